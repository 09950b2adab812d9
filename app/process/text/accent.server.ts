// Luminance (WCAG 2.2), rounded up, of the lightest surface that the accent stands on (`--color-raised` in app.css); also used for the
// darkest text on the accent (`--color-on-accent`). `tests/e2e/house.spec.ts` has axe measure both in a browser.
const surface = 0.0135;
// WCAG 2.2, 1.4.3 (AA).
const enough = 4.5;

type Rgb = [red: number, green: number, blue: number];

function rgbOf(hex: string): Rgb {
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
}

const mapped = ([red, green, blue]: Rgb, change: (part: number) => number): Rgb => [
  change(red),
  change(green),
  change(blue),
];
const hexOf = (rgb: Rgb) => `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

function luminance(rgb: Rgb): number {
  const [red, green, blue] = mapped(rgb, (part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast of a colour (#rrggbb) with what it stands on, 1 to 21. */
export const contrastOf = (hex: string): number => (luminance(rgbOf(hex)) + 0.05) / (surface + 0.05);

export const isReadable = (hex: string): boolean => contrastOf(hex) >= enough;

/** The colour with so much white in it, 0 to 1. */
const lighter = (hex: string, white: number): string =>
  hexOf(mapped(rgbOf(hex), (part) => part + (255 - part) * white));

/** The nearest readable colour between this one and white. */
export function readable(hex: string): string {
  for (let percent = 0; percent < 100; percent++) {
    const tried = lighter(hex, percent / 100);
    if (isReadable(tried)) return tried;
  }
  return "#ffffff";
}

/** Rules that put a readable accent (#rrggbb) in the place of ours. */
export const accentStyle = (hex: string): string =>
  `:root{--color-accent:${hex};--color-accent-strong:${lighter(hex, 0.2)}}`;
