import type { ConfigData } from "html-validate";

/** What valid HTML is (html-validate), but for how React writes: void elements closed, attributes without value as empty ones. */
export const rules: ConfigData = {
  extends: ["html-validate:standard", "html-validate:a11y"],
  rules: {
    "void-style": "off",
    "attribute-empty-style": "off",
    "attribute-boolean-style": "off",
    "no-trailing-whitespace": "off",
    "long-title": "off",
  },
};
