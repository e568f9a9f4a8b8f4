import type { Bytes } from "../../base/bytes.ts";
import { extentOfName, folderOf, objectName } from "./extent-names.ts";
import type { ListedObject, S3Objects, UnfinishedUpload } from "./s3-objects.ts";

/** The objects of extents: `S3Objects` by the number of the extent. */
export class ExtentObjects {
  readonly #objects: S3Objects;
  readonly #prefix: string;

  constructor(objects: S3Objects, prefix: string) {
    this.#objects = objects;
    this.#prefix = prefix;
  }

  /** Where an extent is, for messages. */
  pathOf(extent: number): string {
    return `${this.#objects.url}/${objectName(extent)}`;
  }

  create(extent: number, body: Bytes): Promise<void> {
    return this.#objects.create(this.#nameOf(extent), body);
  }

  begin(extent: number): Promise<string> {
    return this.#objects.beginUpload(this.#nameOf(extent));
  }

  putPart(extent: number, uploadId: string, part: number, body: Bytes): Promise<string> {
    return this.#objects.putPart(this.#nameOf(extent), uploadId, part, body);
  }

  complete(
    extent: number,
    uploadId: string,
    tags: readonly string[],
    bytes: number,
  ): Promise<void> {
    return this.#objects.completeUpload(this.#nameOf(extent), uploadId, tags, bytes);
  }

  abort(extent: number, uploadId: string): Promise<void> {
    return this.#objects.abortUpload(this.#nameOf(extent), uploadId);
  }

  delete(extent: number): Promise<void> {
    return this.#objects.delete(this.#nameOf(extent));
  }

  deleteOwn(extent: number): Promise<void> {
    return this.#objects.deleteOwn(this.#nameOf(extent));
  }

  size(extent: number): Promise<number | null> {
    return this.#objects.size(this.#nameOf(extent));
  }

  read(extent: number, offset: number, into: Bytes): Promise<boolean> {
    return this.#objects.read(this.#nameOf(extent), offset, into);
  }

  /** The extents of a front end, in order, page by page. */
  async *extentsOf(frontEnd: number): AsyncIterable<readonly number[]> {
    for await (const page of this.#objects.list(this.#folderOf(frontEnd))) {
      yield page.flatMap((object) => this.#extentOf(object) ?? []);
    }
  }

  /** Gives up the uploads in parts that a front end has begun and not completed. */
  async abortAll(frontEnd: number): Promise<void> {
    const uploads: UnfinishedUpload[] = [];
    for await (const page of this.#objects.listUploads(this.#folderOf(frontEnd))) {
      uploads.push(...page);
    }
    for (const { name, uploadId } of uploads) await this.#objects.abortUpload(name, uploadId);
  }

  close(): void {
    this.#objects.close();
  }

  #nameOf(extent: number): string {
    return `${this.#prefix}${objectName(extent)}`;
  }

  #folderOf(frontEnd: number): string {
    return `${this.#prefix}${folderOf(frontEnd)}`;
  }

  #extentOf({ name }: ListedObject): number | null {
    return extentOfName(name.slice(this.#prefix.length));
  }
}
