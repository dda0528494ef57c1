"""A report: one HTML file with the sets, how they fared, and how to get it again."""

from definetti.report.report import Report, make_report, report_series

__all__ = ["Report", "make_report", "report_series"]
