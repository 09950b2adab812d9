/** Where other programs send what is shared with this one; `public/manifest.webmanifest` says it to them. */
export const sharedTo = "/compartir";
