/**
 * Working memory for one 64-bit number, as a number and as bytes. V8 compiles a DataView's methods
 * to a few instructions, but not those of a Buffer.
 */
class EightBytes {
  readonly view = new DataView(new ArrayBuffer(8));
  readonly bytes = new Uint8Array(this.view.buffer);
}

let made: EightBytes | null = null;

/** The caller uses it before anything else runs. */
export function eightBytes(): EightBytes {
  made ??= new EightBytes();
  return made;
}
