declare module "libheif-js/wasm-bundle.js" {
  type Shown = { data: Uint8ClampedArray<ArrayBuffer>; width: number; height: number };
  type Picture = {
    get_width(): number;
    get_height(): number;
    display(into: Shown, shown: (shown: Shown | null) => void): void;
  };
  const heif: { HeifDecoder: new () => { decode(bytes: Uint8Array): Picture[] } };
  export default heif;
}
