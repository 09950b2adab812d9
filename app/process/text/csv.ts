/** The byte order mark at the beginning of a file, without which Excel assumes another encoding. */
export const csvMark = "\uFEFF";

/** A line of a file for spreadsheets, with semicolons, as in countries where decimals have a comma. */
export const csvLine = (values: string[]): string => `${values.map(quoted).join(";")}\r\n`;

/** A value in quotes (RFC 4180); a value that a spreadsheet would take for a formula becomes text. */
const quoted = (value: string) => `"${value.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`;
