"""Draws pictures, changes them, and writes the codes of both as COPY reads them.

Usage: demo-images.py PICTURES FOLDER
Writes FOLDER/pictures (id, kind, code) and FOLDER/changed (picture, change, the codes of its eight orientations).
"""

import io
import sys
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageFont

try:
    import pdqhash
except ImportError:
    import imagehash

    pdqhash = None

WIDTH = 768
HEIGHT = 576
WORDS = 'the old ferry terminal closed on friday after divers found cracks in two of its main supports'.split()


def bits(values):
    return ''.join('1' if value else '0' for value in np.asarray(values).flatten())


def orientations(image):
    """The codes of a picture, first as it is, then turned and mirrored."""
    if pdqhash:
        codes, _quality = pdqhash.compute_dihedral(np.asarray(image))
        return [bits(code) for code in codes]
    turned = [image.rotate(angle, expand=True) for angle in (0, 90, 180, 270)]
    turned += [picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT) for picture in turned]
    return [bits(imagehash.phash(picture, 16).hash) for picture in turned]


# Pictures


def color(random):
    return tuple(int(value) for value in random.integers(0, 256, 3))


def noise(random, roughness):
    """Smooth noise, as surfaces in photographs have: waves of all lengths, the long ones stronger."""
    y, x = np.meshgrid(np.fft.fftfreq(HEIGHT), np.fft.fftfreq(WIDTH), indexing='ij')
    waves = random.normal(size=y.shape) + 1j * random.normal(size=y.shape)
    field = np.fft.ifft2(waves / np.maximum(np.hypot(x, y), 1 / WIDTH) ** roughness).real
    return (field - field.min()) / (field.max() - field.min())


def surface(random):
    light = noise(random, 1.8)
    tint = noise(random, 2)
    channels = [light * (0.6 + 0.4 * weight * tint) for weight in random.random(3)]
    return Image.fromarray(np.uint8(255 * np.stack(channels, 2)))


def landscape(random):
    rows = np.linspace(0, 1, HEIGHT)[:, None, None]
    top = np.array(color(random))
    bottom = np.array(color(random))
    pixels = np.broadcast_to(top + (bottom - top) * rows, (HEIGHT, WIDTH, 3)).copy()
    across = np.linspace(0, 2 * np.pi, WIDTH)
    for height in np.sort(random.uniform(0.3, 0.9, 3)):
        waves = sum(random.normal() / (k * k) * np.sin(k * across + random.uniform(0, 7)) for k in range(1, 9))
        below = np.arange(HEIGHT)[:, None] > HEIGHT * (height + 0.08 * waves)
        pixels[below] = color(random)
    pixels += 40 * (noise(random, 1.2)[..., None] - 0.5)
    return Image.fromarray(np.uint8(pixels.clip(0, 255)))


def shapes(random):
    image = Image.new('RGB', (WIDTH, HEIGHT), color(random))
    draw = ImageDraw.Draw(image)
    for _ in range(random.integers(4, 14)):
        x = random.integers(-80, WIDTH)
        y = random.integers(-80, HEIGHT)
        box = (x, y, x + random.integers(40, 400), y + random.integers(40, 400))
        [draw.ellipse, draw.rectangle][random.integers(2)](box, fill=color(random))
    return image


def page(random):
    image = Image.new('RGB', (WIDTH, HEIGHT), 'white')
    draw = ImageDraw.Draw(image)
    size = int(random.integers(24, 60))
    for y in range(24, HEIGHT - size, int(size * 1.4)):
        line = ' '.join(random.choice(WORDS, random.integers(1, 14)))
        draw.text((24, y), line, fill='black', font=ImageFont.load_default(size))
    x = random.integers(0, WIDTH - 280)
    y = random.integers(0, HEIGHT - 240)
    image.paste(surface(random).resize((280, 240)), (x, y))
    return image


KINDS = [surface, landscape, shapes, page]

# Changes


def compressed(image, quality):
    file = io.BytesIO()
    image.save(file, 'JPEG', quality=quality)
    return Image.open(file).convert('RGB')


def scaled(image, factor):
    return image.resize((int(WIDTH * factor), int(HEIGHT * factor)))


def cropped(image, share):
    """Without this share of the width and the height, half of it at each side."""
    x = WIDTH * share / 2
    y = HEIGHT * share / 2
    return image.crop((x, y, WIDTH - x, HEIGHT - y))


def turned(image, degrees):
    """Turned a little, and cropped so that no corner is empty."""
    return cropped(image.rotate(degrees, Image.Resampling.BICUBIC), 0.024 * degrees)


def captioned(image):
    image = image.copy()
    draw = ImageDraw.Draw(image)
    draw.text((20, HEIGHT - 68), 'found on the web', fill='white', stroke_fill='black', stroke_width=3,
              font=ImageFont.load_default(48))
    return image


CHANGES = {
    'JPEG, quality 50': lambda image: compressed(image, 50),
    'JPEG, quality 10': lambda image: compressed(image, 10),
    'half the size': lambda image: scaled(image, 0.5),
    'a quarter of the size': lambda image: scaled(image, 0.25),
    'brighter by half': lambda image: ImageEnhance.Brightness(image).enhance(1.5),
    'more contrast': lambda image: ImageEnhance.Contrast(image).enhance(1.5),
    'grey': lambda image: image.convert('L').convert('RGB'),
    'blurred': lambda image: image.filter(ImageFilter.GaussianBlur(5)),
    'with a caption': captioned,
    'cropped by 2 %': lambda image: cropped(image, 0.02),
    'cropped by 5 %': lambda image: cropped(image, 0.05),
    'cropped by 10 %': lambda image: cropped(image, 0.1),
    'turned by 1 degree': lambda image: turned(image, 1),
    'turned by 3 degrees': lambda image: turned(image, 3),
    'turned by 90 degrees': lambda image: image.rotate(90, expand=True),
    'mirrored, and JPEG': lambda image: compressed(image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), 50),
}


def codes_of(number):
    """The lines of one picture, and of its changed copies."""
    kind = KINDS[number % len(KINDS)]
    image = kind(np.random.default_rng(number))
    picture = f'{number}\t{kind.__name__}\t{orientations(image)[0]}\n'
    copies = [f'{number}\t{change}\t{{{",".join(orientations(make(image)))}}}\n' for change, make in CHANGES.items()]
    return picture, ''.join(copies)


def main():
    number = int(sys.argv[1])
    folder = Path(sys.argv[2])
    with Pool() as pool, (folder / 'pictures').open('w') as pictures, (folder / 'changed').open('w') as changed:
        for picture, copies in pool.imap(codes_of, range(1, number + 1), 8):
            pictures.write(picture)
            changed.write(copies)
    print(f'{number} pictures and {len(CHANGES)} changed copies of each: {"PDQ" if pdqhash else "pHash"}, 256 bits')


if __name__ == '__main__':
    main()
