"""Report prediction sets, their backtest, estimates and settings on one HTML page."""

from definetti.report.contents import make_report, report_series
from definetti.report.page import Report

__all__ = ["Report", "make_report", "report_series"]
