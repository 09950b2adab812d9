import type { ConfigData } from "html-validate";

/**
 * html-validate's standard and accessibility rules, without rules of style that React's output breaks, such as those about
 * self-closed void elements and empty attribute values.
 */
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
