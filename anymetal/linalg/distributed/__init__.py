"""Linear algebra of matrices whose rows lie on several machines, over MLX's `mx.distributed`."""

from anymetal.linalg.distributed.cyclic import cholesky as cholesky
from anymetal.linalg.distributed.cyclic import cyclic_rows as cyclic_rows
from anymetal.linalg.distributed.cyclic import solve_triangular as solve_triangular
from anymetal.linalg.distributed.files import MatrixFile as MatrixFile
from anymetal.linalg.distributed.files import open_matrix as open_matrix
from anymetal.linalg.distributed.ranks import patience as patience
from anymetal.linalg.distributed.sums import dot as dot
from anymetal.linalg.distributed.sums import gram as gram
from anymetal.linalg.distributed.sums import norm as norm
from anymetal.linalg.distributed.sums import products as products
from anymetal.linalg.distributed.svd import svd_topk as svd_topk
from anymetal.linalg.distributed.tsqr import Orthonormal as Orthonormal
from anymetal.linalg.distributed.tsqr import implicit_qr as implicit_qr
from anymetal.linalg.distributed.tsqr import qr as qr
