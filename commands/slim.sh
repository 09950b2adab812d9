#!/bin/sh
# Takes from an installation without development packages what serving does not need: maps, types and variants for development are half of its
# weight. For the image (`Containerfile`) and the archive of a release (`publish.ts`). Run it in the folder of the project.
set -eu
rm -rf node_modules/node/node_modules node_modules/typescript node_modules/@typescript node_modules/@types
find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.md' -o -name '*.development*.js' -size +100k \) -delete
# Of Tesseract, the small model of each language and what Node uses; of the others, what only browsers or their tests use.
rm -rf node_modules/@tesseract.js-data/*/4.0.0 node_modules/tesseract.js/dist node_modules/tesseract.js/docs node_modules/tesseract.js/examples
find node_modules/tesseract.js-core -type f \( -name '*.wasm.js' -o -name '*lstm*' \) -delete
find node_modules/zlibjs/bin -type f ! -name node-zlib.js -delete
rm -rf node_modules/@e965/xlsx/dist node_modules/bintrees/test node_modules/@aws-sdk/*/dist-es node_modules/@smithy/*/dist-es
# Of what makes documents, opens photographs of telephones and reads dumps of Mongo, the parts that are loaded here.
find node_modules/docx/dist -type f ! -name index.mjs -delete
rm -rf node_modules/docx/node_modules/@types node_modules/docx/node_modules/undici-types node_modules/bson/src \
  node_modules/libheif-js/libheif node_modules/libheif-js/libheif-wasm/libheif.js \
  node_modules/libheif-js/libheif-wasm/libheif.wasm node_modules/libheif-js/libheif-wasm/libheif-bundle.mjs
find node_modules/bson/lib -type f ! -name bson.node.mjs -delete
# In the bundle as far as they are used (`noExternal` in vite.config.ts), and in no command.
rm -rf node_modules/vega node_modules/vega-* node_modules/d3-* node_modules/@viz-js node_modules/highlight.js node_modules/react-dom \
  node_modules/temml node_modules/linkedom node_modules/libphonenumber-js node_modules/stdnum node_modules/@modelcontextprotocol \
  node_modules/@ai-sdk
# Of pdf.js, what reads; nothing is drawn.
rm -rf node_modules/pdfjs-dist/build node_modules/pdfjs-dist/web node_modules/pdfjs-dist/legacy/web \
  node_modules/pdfjs-dist/image_decoders node_modules/pdfjs-dist/standard_fonts node_modules/pdfjs-dist/iccs \
  node_modules/pdfjs-dist/wasm/quickjs-eval.* node_modules/pdfjs-dist/wasm/*_nowasm_fallback.js
find node_modules/pdfjs-dist/legacy/build -type f ! -name pdf.mjs ! -name pdf.worker.mjs -delete
if command -v strip > /dev/null; then strip node_modules/node/bin/node; fi
