"""model_hopper from Python: train many neural networks at once inside PostgreSQL or Greenplum.

    import model_hopper

    hopper = model_hopper.connect("dbname=sales")
    hopper.fit_multiple_model("packed", "models", "configs", 10, validation_table="packed_validation")
    hopper.leaderboard("models")
"""

from ._client import Hopper, TransactionWarning, Written, connect, hyperparameters
from ._drivers import Notice
from ._progress import HopperWarning
from ._runs import Run

__version__ = "0.2.0"
__all__ = ["Hopper", "HopperWarning", "Notice", "Run", "TransactionWarning", "Written", "connect", "hyperparameters"]
