import { openAsBlob } from "node:fs";
import type { ReceivedFile } from "./multipart.server.ts";

/**
 * Body of an API call with files that are already on disk. It is passed as an object in one process, and becomes multipart only for an API
 * on another machine. The receiver of the files deletes them.
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
