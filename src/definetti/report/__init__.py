"""One HTML page with prediction sets, their backtest, the estimates and the settings."""

from definetti.report.contents import make_report, report_series
from definetti.report.page import Report

__all__ = ["Report", "make_report", "report_series"]
