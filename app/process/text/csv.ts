/** A mark at the beginning of a file, without which Excel takes it for another encoding. */
export const csvMark = "\uFEFF";

/** A line of a file for spreadsheets, with semicolons, as where decimals have a comma. */
export const csvLine = (values: string[]): string => `${values.map(quoted).join(";")}\r\n`;

/** RFC 4180; what a spreadsheet would take for a formula is text. */
const quoted = (value: string) => `"${value.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`;
