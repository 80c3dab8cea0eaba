"""Codes of pictures as COPY reads them, pHash of 64 bits and PDQ: `histogram.py DEMO PICTURES FILE`.

DEMO, the program of `make demo-images`, draws pictures and changes them. pHash has a bit for each of the 8 by 8 lowest
frequencies of 32 by 32 grey pixels: whether it is above their median (hackerfactor.com, "Looks Like It", 2011).
"""

import importlib.util
import sys
from multiprocessing import Pool

import numpy as np
import pdqhash

CHANGES = ["JPEG, quality 10", "half the size", "with a caption", "cropped by 2 %", "turned by 1 degree"]
spec = importlib.util.spec_from_file_location("demo", sys.argv[1])
demo = importlib.util.module_from_spec(spec)
spec.loader.exec_module(demo)
WAVES = np.cos(np.pi / 32 * np.outer(np.arange(8), np.arange(32) + 0.5))


def codes_of(number):
    """A line for a picture and for each of its changed copies."""
    image = demo.KINDS[number % len(demo.KINDS)](np.random.default_rng(number))
    lines = []
    for picture in [image, *(demo.CHANGES[change](image) for change in CHANGES)]:
        low = WAVES @ np.asarray(picture.convert("L").resize((32, 32)), float) @ WAVES.T
        pdq, _quality = pdqhash.compute(np.asarray(picture))
        lines.append(f"{demo.bits(low > np.median(low))}\t{demo.bits(pdq)}\n")
    return "".join(lines)


def main(_demo, pictures, file):
    with Pool() as pool, open(file, "w") as lines:
        lines.writelines(pool.imap(codes_of, range(int(pictures)), 8))


if __name__ == "__main__":
    main(*sys.argv[1:])
