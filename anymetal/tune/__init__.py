"""Which of several ways to compute something is taken: measured tables and the switch."""

from anymetal.tune.switch import Choice as Choice
from anymetal.tune.switch import explain as explain
