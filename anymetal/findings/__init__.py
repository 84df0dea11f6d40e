"""What was found wrong in a kernel: a value, and its renderings for people and for programs."""

from anymetal.findings.model import Finding, Place, Rule, Severity, once_per_place

__all__ = ["Finding", "Place", "Rule", "Severity", "once_per_place"]
