import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { type BorrowedBuffer, lengthOf, unowned } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { KIB } from "../../base/limits.ts";
import { MemoryBudget } from "../../base/memory-budget.ts";
import type { Runs } from "../../service/file/clear-handles.ts";
import type { Holder } from "../../service/shared/holder.ts";
import { ConnectionTable, type Counted, type TableLimits } from "../connection-table.ts";
import { Pace, type Transfer } from "../pace.ts";
import { ReadMemory } from "../read-memory.ts";
import type { Share } from "../send-budget.ts";
import { bytesTakenFrom } from "../socket-progress.ts";
import type { SmbAccounts } from "./auth/authentication.ts";
import { Connection } from "./connection.ts";
import { DropConnection } from "./drop-connection.ts";
import type { FileHost, StoredShares } from "./file-host.ts";
import { releaseFrame } from "./frame-memory.ts";
import { FrameReader } from "./frame-reader.ts";
import { heldSessions } from "./held-sessions.ts";
import { IncomingWrite } from "./incoming-write.ts";
import { STATUS } from "./nt-status.ts";
import { receiveFrame, receiveWrite } from "./receive.ts";
import { adoptHandles, restoreHandles } from "./restore-handles.ts";
import { SendQueue } from "./send-queue.ts";
import { reportDrop } from "./smb-outcome.ts";
import { type ShareStores, SmbServer, type SmbServerOptions } from "./smb-server.ts";
import type { Wire } from "./wire.ts";

export interface SmbListenerOptions extends SmbServerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/** What can change while a listener runs. */
export interface SmbChange {
  readonly accounts: SmbAccounts;
  readonly limits: TableLimits;
  /** Clients of shares that are not there any more must have been dropped. */
  readonly shares: ShareStores;
}

export interface SmbListener {
  readonly port: number;
  /** `smb://127.0.0.1:10445` */
  readonly origin: string;
  /** The number of open connections. */
  readonly connections: number;
  /** The clients that are logged on. */
  readonly sessions: readonly Holder[];
  /**
   * Takes log-ons by new settings. Connections stay open; sessions end whose account or key is
   * gone.
   */
  change(change: SmbChange): void;
  /** Takes over persistent handles of front ends that do not run any more. */
  adopt(stored: StoredShares, runs: Runs): Promise<void>;
  /** Closes connections, because clients must not trust handles and caches of these shares now. */
  drop(stored: StoredShares): Promise<void>;
  /** Accepts no more connections, closes the existing ones, and releases what they had open. */
  drain(): Promise<void>;
}

const PREFIX_BYTES = 4;
/** Up to this size the parts of a frame are copied together, which is cheaper than sending each. */
const GATHERED_BYTES_MAX = 4 * KIB;
/** The size of a read: several times Node's, and small enough for a CPU's cache. */
const READ_BYTES = 256 * KIB;
/** From this size on, a read counts as work in the fair queue. */
const PACED_BYTES_MIN = 16 * KIB;

/** Opens an SMB listener. Rejects with the system's error (`EADDRINUSE`, …) if it cannot listen. */
export async function openSmbListener(options: SmbListenerOptions): Promise<SmbListener> {
  const listener = new TcpListener(options);
  await listener.open();
  return listener;
}

class TcpListener implements SmbListener {
  readonly #options: SmbListenerOptions;
  readonly #smb: SmbServer;
  readonly #tcp: Server;
  /** The memory that connections read into. */
  readonly #memory = new ReadMemory({ shared: READ_BYTES, own: READ_BYTES, owners: 0 });
  readonly #lines: ConnectionTable<Line>;
  readonly #pace: Pace;
  #timer: NodeJS.Timeout | undefined;
  #bound: AddressInfo = { address: "", family: "", port: 0 };

  constructor(options: SmbListenerOptions) {
    this.#options = options;
    this.#smb = new SmbServer(options);
    // Paused, because our own socket object does the reading.
    const traits = { noDelay: true, keepAlive: true, pauseOnConnect: true };
    this.#tcp = createServer(traits, (socket) => this.#accept(socket));
    this.#lines = new ConnectionTable(options.limits);
    this.#pace = new Pace(options.limits.send);
  }

  async open(): Promise<void> {
    const { host, port, log } = this.#options;
    // Handles of other front ends are theirs, or the leader adopts them.
    for (const host of this.#smb.hosts) if (!host.isShared) await restoreHandles(host);
    await new Promise<void>((resolve, reject) => {
      this.#tcp.once("error", reject).listen({ host, port }, () => {
        this.#tcp.off("error", reject);
        this.#tcp.on("error", (error) => log.failure("accepting a connection", error));
        this.#bound = this.#tcp.address() as AddressInfo;
        resolve();
      });
    });
    const { paceCheckMs } = this.#options.limits;
    this.#timer = setInterval(() => this.#pace.check(), paceCheckMs).unref();
  }

  get port(): number {
    return this.#bound.port;
  }

  get origin(): string {
    const { address, family, port } = this.#bound;
    return `smb://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  get connections(): number {
    return this.#lines.size;
  }

  get sessions(): readonly Holder[] {
    return heldSessions(this.#smb.sessions.values());
  }

  change({ accounts, limits, shares }: SmbChange): void {
    this.#lines.limits = limits;
    this.#smb.useShares(shares);
    this.#smb.useAccounts(accounts);
  }

  async adopt(stored: StoredShares, runs: Runs): Promise<void> {
    const host = this.#smb.hostAt(stored);
    if (host !== null) await adoptHandles(host, runs);
  }

  async drop(stored: StoredShares): Promise<void> {
    const host = this.#smb.hostAt(stored);
    if (host === null) return;
    const dropped = [...this.#lines].filter((line) => line.uses(host));
    for (const line of dropped) line.drop();
    await Promise.all(dropped.map((line) => line.gone));
    await host.durables.close();
    host.unclosed.forget();
  }

  async drain(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#tcp.close(() => resolve()));
    clearInterval(this.#timer);
    for (const line of this.#lines) line.drop();
    await closed;
    await Promise.all([...this.#lines].map((line) => line.gone));
    for (const { durables, files, unclosed } of this.#smb.hosts) {
      await durables.close();
      unclosed.forget();
      files.breaks.close();
    }
  }

  #accept(socket: Socket): void {
    const line = new Line(this.#smb, this.#memory, socket, () => this.#lines.rested(line));
    const hasRoom = this.#lines.add(line);
    this.#pace.watch(line);
    line.gone.then(() => {
      this.#pace.forget(line);
      this.#lines.remove(line);
    });
    if (!hasRoom) line.refuse();
  }
}

/** One socket: receives and sends frames within the memory limits. */
class Line implements Wire, Counted, Transfer {
  readonly remoteAddress: string;
  /** Resolves once the socket is closed and everything that belonged to it is released. */
  readonly gone: Promise<void>;
  readonly #server: SmbServer;
  readonly #socket: Socket;
  readonly #connection: Connection;
  readonly #unsent: SendQueue;
  readonly #frames: FrameReader<IncomingWrite>;
  /** Received parts that are not taken yet, and waits in the fair queue. */
  #waiting = 0;
  /** The parts of the current chunk that are not taken yet. */
  #unfinishedParts: Promise<unknown> | null = null;
  #running = 0;
  #onIdle: () => void = () => {};
  #runningBytes = 0;
  readonly #onRest: () => void;
  /** Memory for responses to READ. */
  readonly #reads: MemoryBudget;

  constructor(server: SmbServer, memory: ReadMemory, accepted: Socket, onRest: () => void) {
    this.#server = server;
    this.#onRest = onRest;
    this.#reads = new MemoryBudget(server.options.limits.readBytesMax);
    this.#connection = new Connection(server, this);
    const onWait = (taken: Promise<void>) => void this.#waitFor(taken);
    this.#frames = new FrameReader(
      (bytes) => this.#isAllowed(bytes),
      (start, bytes) => IncomingWrite.begin(this.#connection, start, bytes, onWait),
    );
    const socket = memory.socketOf(accepted, {
      take: (chunk) => this.#take(chunk),
      mayBorrow: () => this.#frames.large !== null,
    });
    this.#socket = socket;
    this.#unsent = new SendQueue(socket, () => this.#regulate());
    this.remoteAddress = socket.remoteAddress ?? "";
    socket.on("drain", () => this.#regulate());
    // Ignored: "close" follows every error.
    socket.on("error", () => {});
    const logon = setTimeout(() => this.#dropStranger(), server.options.limits.logonMs).unref();
    this.gone = new Promise((resolve) => {
      socket.once("close", () => {
        clearTimeout(logon);
        resolve(this.#release());
      });
    });
    socket.resume();
  }

  send(frame: BorrowedBuffer): void {
    const { parts } = frame;
    const length = lengthOf(parts);
    const isGathered = length <= GATHERED_BYTES_MAX;
    const start = Buffer.allocUnsafe(PREFIX_BYTES + (isGathered ? length : 0));
    start.writeUInt32BE(length);
    if (isGathered) {
      let at = PREFIX_BYTES;
      for (const part of parts) at += part.copy(start, at);
      frame.release();
      this.#unsent.send(unowned([start]));
      return;
    }
    this.#unsent.send({ ...frame, parts: [start, ...parts] });
  }

  drop(): void {
    this.#socket.destroy();
  }

  uses(host: FileHost): boolean {
    return this.#connection.uses(host);
  }

  /** Drops a connection for which there is no room. */
  refuse(): void {
    reportDrop(this.#connection, STATUS.INSUFFICIENT_RESOURCES);
    this.drop();
  }

  close(): void {
    this.drop();
  }

  /** Connections without a log-on are closed first; those with opens never. */
  get idleRank(): number | null {
    if (!this.#connection.isTrusted) return 0;
    return this.#running > 0 || this.#connection.hasOpens ? null : 1;
  }

  get waiting(): boolean {
    return this.#socket.writableLength + this.#unsent.bytes > 0;
  }

  get moved(): number {
    return bytesTakenFrom(this.#socket);
  }

  cut(): void {
    this.drop();
  }

  async shareFor(bytes: number): Promise<Share> {
    const { smb } = this.#server.options.budget;
    await this.#reads.take(bytes);
    await smb.take(bytes);
    const release = () => {
      smb.release(bytes);
      this.#reads.release(bytes);
    };
    return { bytes, release };
  }

  #take(chunk: Bytes): Promise<unknown> | null {
    this.#unfinishedParts = null;
    try {
      for (const frame of this.#frames.take(chunk)) void this.#run(frame);
    } catch (error) {
      this.#fail(error);
    }
    if (chunk.length >= PACED_BYTES_MIN) this.#pace();
    this.#regulate();
    return this.#unfinishedParts;
  }

  /** Pauses reading when a slice is spent, because receiving takes time, too. */
  #pace(): void {
    const next = fairQueue.next();
    if (next !== undefined) void this.#pauseUntil(next);
  }

  async #run(frame: Bytes | IncomingWrite): Promise<void> {
    this.#running++;
    this.#runningBytes += frame.length;
    try {
      if (!this.#socket.destroyed) await this.#receive(frame);
    } catch (error) {
      this.#fail(error);
    }
    if (frame instanceof IncomingWrite) await frame.end();
    else releaseFrame(frame);
    this.#running--;
    this.#runningBytes -= frame.length;
    this.#regulate();
    if (this.#running > 0) return;
    this.#onIdle();
    this.#onRest();
  }

  #receive(frame: Bytes | IncomingWrite): Promise<void> {
    return frame instanceof IncomingWrite
      ? receiveWrite(this.#connection, frame)
      : receiveFrame(this.#connection, frame);
  }

  #isAllowed(bytes: number): boolean {
    const { frameBytesMax, strangerFrameBytesMax } = this.#server.options.limits;
    return bytes <= (this.#connection.isTrusted ? frameBytesMax : strangerFrameBytesMax);
  }

  #waitFor(taken: Promise<void>): Promise<void> {
    this.#unfinishedParts =
      this.#unfinishedParts === null ? taken : Promise.all([this.#unfinishedParts, taken]);
    return this.#pauseUntil(taken);
  }

  async #pauseUntil(done: Promise<void>): Promise<void> {
    this.#waiting++;
    await done;
    this.#waiting--;
    this.#regulate();
  }

  /** Pauses reading while too much is in memory, in either direction. */
  #regulate(): void {
    const inMemory = this.#runningBytes + this.#socket.writableLength + this.#unsent.bytes;
    const isEnough = this.#waiting > 0 || inMemory > this.#server.options.limits.memoryBytesMax;
    if (isEnough) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  #fail(error: unknown): void {
    if (error instanceof DropConnection) reportDrop(this.#connection, STATUS.INVALID_PARAMETER);
    else this.#server.options.log.failure("an SMB connection", error);
    this.drop();
  }

  #dropStranger(): void {
    if (!this.#connection.isTrusted) this.drop();
  }

  async #release(): Promise<void> {
    try {
      await this.#frames.large?.end();
      await this.#connection.close();
      if (this.#running === 0) return;
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    } catch (error) {
      this.#server.options.log.failure("closing an SMB connection", error);
    }
  }
}
