"""Linear algebra as Metal kernels: factorisations, products, sums of extended precision."""

from anymetal.linalg.basis import complete_basis as complete_basis
from anymetal.linalg.basis import orthonormal_columns as orthonormal_columns
from anymetal.linalg.basis import orthonormal_rows as orthonormal_rows
from anymetal.linalg.cholesky import cholesky as cholesky
from anymetal.linalg.gemm import matmul_atb as matmul_atb
from anymetal.linalg.gemm import matmul_av as matmul_av
from anymetal.linalg.precision import dot as dot
from anymetal.linalg.precision import gram as gram
from anymetal.linalg.precision import norm as norm
from anymetal.linalg.precision import project as project
from anymetal.linalg.qr import qr as qr
from anymetal.linalg.svd import svd_topk as svd_topk
