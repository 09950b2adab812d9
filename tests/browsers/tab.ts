/** A page in a browser, used as a person does: by what is written beside a field and on a button. Nothing waits for a page to have loaded. */
export type Tab = {
  go(url: string): Promise<void>;
  url(): Promise<string>;
  title(): Promise<string>;
  /** Whether all of its page is there. */
  isLoaded(): Promise<boolean>;
  /** Readable text in it. */
  text(): Promise<string>;
  fill(label: string, text: string): Promise<void>;
  choose(label: string, option: string): Promise<void>;
  press(name: string): Promise<void>;
  back(): Promise<void>;
  reload(): Promise<void>;
  /** Gives the page this size, in CSS pixels. */
  resize(width: number, height: number): Promise<void>;
  /** Value of an expression, in a page whose own scripts may be off. */
  evaluate<Value>(expression: string): Promise<Value>;
  close(): Promise<void>;
};

/** Place of a field by its label, and of a button or link by its words: XPath, which all browsers know. */
export const field = (label: string) => `//*[@id = //label[starts-with(normalize-space(), "${label}")]/@for]`;
export const pressable = (name: string) => `//*[self::a or self::button][normalize-space() = "${name}"]`;
export const option = (text: string) => `./option[normalize-space() = "${text}"]`;
