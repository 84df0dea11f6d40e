"""The pipeline of the compiler as data: passes in their order, and the driver that runs them."""
