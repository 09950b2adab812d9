import { openAsBlob } from "node:fs";
import type { ReceivedFile } from "./multipart.server.ts";

/**
 * A form whose files are on disk already: the body of a call of the API. In one process it goes over as it is; only to an
 * API on another machine it becomes multipart/form-data again. Whoever received the files discards them.
 */
export class ReceivedForm extends FormData {
  readonly files: ReceivedFile[];

  constructor(fields: Record<string, string>, files: ReceivedFile[]) {
    super();
    for (const [name, value] of Object.entries(fields)) this.append(name, value);
    this.files = files;
  }

  /** The form with its files in it. They are read from disk as the body is sent. */
  async whole(): Promise<FormData> {
    const whole = new FormData();
    for (const [name, value] of this) whole.append(name, value);
    for (const { field, name, path } of this.files) whole.append(field, new File([await openAsBlob(path)], name));
    return whole;
  }
}
