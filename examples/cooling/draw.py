# SPDX-License-Identifier: GPL-3.0-or-later
"""A layer of a file of grid temperatures as an SVG picture.

    python3 draw.py GRID_FILE LAYER ROWS COLUMNS WIDTH_MM HEIGHT_MM TITLE >picture.svg
"""
import sys

SCALE, MARGIN = 9, 30  # pixels a millimetre, and around
COLOURS = ["#313695", "#4575b4", "#74add1", "#abd9e9", "#e0f3f8", "#ffffbf", "#fee090", "#fdae61", "#f46d43", "#d73027", "#a50026"]


def layer(path, number, n_cell):
    with open(path) as text:
        for line in text:
            if line.strip().rstrip(":") == f"Layer {number}":
                return [float(next(text).split()[1]) for _ in range(n_cell)]
    sys.exit(f"{path}: no layer {number}")


def main():
    if len(sys.argv) != 8:
        sys.exit(__doc__)
    path, number, rows, cols = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    scale = SCALE * (3 if float(sys.argv[5]) < 25 else 1)
    width, height, title = scale * float(sys.argv[5]), scale * float(sys.argv[6]), sys.argv[7]
    kelvin = layer(path, number, rows * cols)
    low, high = min(kelvin), max(kelvin)
    step = (high - low) / len(COLOURS)
    bins = [min(int((k - low) / step), len(COLOURS) - 1) for k in kelvin]
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 2 * MARGIN + 90:.0f}" height="{height + 2 * MARGIN:.0f}" '
          'font-family="sans-serif" font-size="12" shape-rendering="crispEdges">')
    print(f'<rect width="100%" height="100%" fill="white"/><text x="{MARGIN}" y="20">{title}</text>')
    for row in range(rows):
        col = 0
        while col < cols:
            end = col
            while end < cols and bins[row * cols + end] == bins[row * cols + col]:
                end += 1
            print(f'<rect x="{MARGIN + col * width / cols:.1f}" y="{MARGIN + row * height / rows:.1f}" width="{(end - col) * width / cols:.1f}" '
                  f'height="{height / rows:.1f}" fill="{COLOURS[bins[row * cols + col]]}"/>')
            col = end
    for i, colour in enumerate(COLOURS):
        y = MARGIN + height - (i + 1) * height / len(COLOURS)
        print(f'<rect x="{MARGIN + width + 12:.0f}" y="{y:.1f}" width="14" height="{height / len(COLOURS):.1f}" fill="{colour}"/>')
    for y, k in ((MARGIN + 9, high), (MARGIN + height, low)):
        print(f'<text x="{MARGIN + width + 30:.0f}" y="{y:.0f}">{k - 273.15:.1f} °C</text>')
    print("</svg>")


main()
