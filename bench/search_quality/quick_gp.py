"""What Optuna's GPSampler computes on a space of few points, without torch.

GPSampler asks torch for the likelihood and its gradient some fifty times a trial, and for the acquisition function at two
thousand points of which most are the same. `instead_of_torch()` puts the same formulas in NumPy into their place
(optuna/_gp/gp.py, prior.py and acqf.py of Optuna 5.0): the gradient written down in place of derived, and each point of the
space computed once. Everything else stays Optuna's: trials, random points, where the fit begins and SciPy's L-BFGS-B that does
it, Sobol's points, the draws and the local search. A seed takes a seventh of a second in place of five.

Sums are rounded otherwise than torch rounds them. That matters where two points are level, as where two parameters had the same
values in all random trials: rounding decides, and `Level` is raised, so that the seed is torch's (reference.py).
"""

import contextlib
import itertools
import types

import numpy as np
import optuna.samplers._gp.sampler as sampler
from optuna._gp import prior
from scipy import optimize
from scipy.linalg import lapack
from scipy.special import erfc, erfcx


LEVEL = 1e-6  # in logarithms; the two computations differ by some 1e-11


def matern(squared):
    """Matern 5/2 of the squared distance, and its derivative by it."""
    root = np.sqrt(5 * squared)
    decay = np.exp(-root)
    return decay * (5 / 3 * squared + root + 1), (-5 / 6) * (root + 1) * decay


def squares(a, b, is_categorical):
    """Squared differences of all pairs, a column a parameter."""
    pairs = np.square(a[:, None, :] - b[None, :, :]).reshape(-1, a.shape[1])
    pairs[:, is_categorical] = pairs[:, is_categorical] > 0
    return pairs


def inverse(matrix):
    """And half the logarithm of its determinant."""
    factor, info = lapack.dpotrf(matrix, lower=1)
    if info:
        raise np.linalg.LinAlgError("not positive definite")
    half_log = np.log(factor.diagonal()).sum()
    lower, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    return np.tril(lower) + np.tril(lower, -1).T, half_log


class Level(Exception):
    """Two points have the largest expected improvement."""


class Regressor:
    def __init__(self, x, y, is_categorical, weights, scale, noise):
        """`weights` are the inverses of the squared length scales."""
        self.x, self.is_categorical = x, is_categorical
        self.inverse_squared_lengthscales, self.kernel_scale, self.noise_var = weights, scale, noise
        kernel = scale * matern(squares(x, x, is_categorical) @ weights)[0].reshape(len(x), len(x))
        kernel[np.diag_indices(len(x))] += noise
        self.inverse = inverse(kernel)[0]
        self.alpha = self.inverse @ y
        self.length_scales = 1 / np.sqrt(weights)

    def posterior(self, points):
        kernel = self.kernel_scale * matern(
            squares(points, self.x, self.is_categorical) @ self.inverse_squared_lengthscales
        )[0].reshape(len(points), -1)
        variance = self.kernel_scale - np.einsum("ij,ij->i", kernel, kernel @ self.inverse)
        return kernel @ self.alpha, np.maximum(variance, 0)


def fit_from(start, x, y, is_categorical, minimum_noise, gtol):
    n, pairs = len(x), squares(x, x, is_categorical)
    diagonal = np.diag_indices(n)
    weights, scale, noise = start
    first = np.concatenate([np.log(weights), [np.log(scale), np.log(noise - 0.99 * minimum_noise)]])

    def loss(raw):
        weights, scale, above = np.exp(raw[:-2]), np.exp(raw[-2]), np.exp(raw[-1])
        noise = above + minimum_noise
        unscaled, derivative = matern(pairs @ weights)
        kernel = (scale * unscaled).reshape(n, n)
        kernel[diagonal] += noise
        inverted, half_log = inverse(kernel)
        alpha = inverted @ y
        by_kernel = 0.5 * (inverted - np.outer(alpha, alpha))
        flat = by_kernel.ravel()
        value = half_log + 0.5 * (y @ alpha)
        value += (0.1 / weights + 0.1 * weights).sum() - (np.log(scale) - scale) - (0.1 * np.log(noise) - 30 * noise)
        by_weights = scale * ((flat * derivative) @ pairs) - 0.1 / weights**2 + 0.1
        by_scale = flat @ unscaled - 1 / scale + 1
        by_noise = by_kernel.trace() - 0.1 / noise + 30
        return value, np.concatenate([by_weights * weights, [by_scale * scale, by_noise * above]])

    found = optimize.minimize(loss, first, jac=True, method="l-bfgs-b", options={"gtol": gtol})
    if not found.success:
        raise RuntimeError(found.message)
    return Regressor(
        x, y, is_categorical, np.exp(found.x[:-2]), np.exp(found.x[-2]), minimum_noise + np.exp(found.x[-1])
    )


def fit(X, Y, is_categorical, log_prior, minimum_noise, deterministic_objective, gpr_cache=None, gtol=1e-2):
    """In place of optuna._gp.gp.fit_kernel_params."""
    assert log_prior is prior.default_log_prior and not deterministic_objective
    plain = (np.ones(X.shape[1]), 1.0, 1.0)
    starts = [plain]
    if gpr_cache is not None:
        starts.insert(0, (gpr_cache.inverse_squared_lengthscales, gpr_cache.kernel_scale, gpr_cache.noise_var))
    for start in starts:
        with contextlib.suppress(RuntimeError, np.linalg.LinAlgError):
            return fit_from(start, X, Y, is_categorical, minimum_noise, gtol)
    return Regressor(X, Y, is_categorical, *plain)


class LogEI:
    """In place of optuna._gp.acqf.LogEI: the logarithm of the expected improvement of all points, and where to look them up."""

    def __init__(self, gpr, search_space, threshold, stabilizing_noise=1e-12):
        self.length_scales, self.search_space = gpr.length_scales, search_space
        choices = search_space.get_choices_of_discrete_params()
        assert len(choices) == search_space.dim
        self.counts = np.array([len(values) for values in choices])
        # A number's normalized value is the middle of its share of 0 to 1, a choice's is its place.
        self.stretch = np.where(search_space.is_categorical, 1, self.counts)
        self.strides = np.append(np.cumprod(self.counts[:0:-1])[::-1], 1)
        mean, variance = gpr.posterior(np.array(list(itertools.product(*choices))))
        sigma = np.sqrt(variance + stabilizing_noise)
        z = (mean - threshold) / sigma
        far = z < -25
        with np.errstate(all="ignore"):
            value = np.log(0.5 * z * erfc(-np.sqrt(0.5) * z) + np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi))
        z = z[far]
        value[far] = -0.5 * z**2 - np.log(np.sqrt(2 * np.pi))
        value[far] += np.log(1 + np.sqrt(0.5 * np.pi) * z * erfcx(-np.sqrt(0.5) * z))
        self.values = value + np.log(sigma)
        second, largest = np.partition(self.values, -2)[-2:]
        if largest - second < LEVEL:
            raise Level

    def eval_acqf_no_grad(self, points):
        places = np.floor(points * self.stretch).astype(int)
        return self.values[places @ self.strides]


@contextlib.contextmanager
def instead_of_torch():
    kept = sampler.gp, sampler.acqf_module, sampler.torch
    sampler.gp = types.SimpleNamespace(fit_kernel_params=fit, warn_and_convert_inf=lambda values: values)
    sampler.acqf_module = types.SimpleNamespace(LogEI=LogEI)
    sampler.torch = types.SimpleNamespace(device=lambda name: contextlib.nullcontext())
    try:
        yield
    finally:
        sampler.gp, sampler.acqf_module, sampler.torch = kept
