import { call, fateOf, type Owner, Unanswered, type World } from './world.ts';

/**
 * One database as the simulator needs it. A transaction runs without a turn in between, so an engine may use microtasks,
 * but no timer. `save` returns the committed state, `load` replaces it; the simulator keeps one state per commit.
 */
export interface Engine<Tx> {
  transaction<T>(work: (tx: Tx) => T | Promise<T>): Promise<T>;
  save(): unknown;
  load(saved: unknown): void;
  /** The number of events in the log. */
  size(): number;
  /** A hand in the database deletes the last event of a stream; all later events of other streams stay. */
  cut(pick: <T>(items: readonly T[]) => T | undefined): void;
}

/** What the database itself knows at the time of a transaction. */
export interface Server {
  now(): number;
  /** Another number after each promotion of a standby, as `pg_control_checkpoint` has it. */
  timeline(): number;
}

export interface DatabasePort<Tx> {
  /** Commits or throws. `Unanswered`: it may have been committed. `ConnectionLost`: it was not, and a session began. */
  transaction<T>(work: (tx: Tx) => T | Promise<T>): Promise<T>;
}

export class ConnectionLost extends Error {}

interface Primary<Tx> {
  readonly engine: Engine<Tx>;
  timeline: number;
  /** Another number after each event that ends all connections. */
  session: number;
  readonly history: unknown[];
}

/** The databases of an installation: one primary, or two after a failover that left the old one alive. */
export class Databases<Tx> {
  faults = 0;
  /** Every transaction that had its effect, before its answer. */
  onCall: (owner: Owner, kind: 'commit' | 'read') => void = () => {};
  readonly #world: World;
  readonly #open: (server: Server) => Engine<Tx>;
  readonly #primaries: Primary<Tx>[] = [];
  readonly #routes = new Map<Owner, Primary<Tx>>();
  #timelines = 0;
  #sessions = 0;
  #changes = 0;

  constructor(world: World, open: (server: Server) => Engine<Tx>) {
    this.#world = world;
    this.#open = open;
    this.#promote();
  }

  connect(owner: Owner): DatabasePort<Tx> {
    let session = this.#route(owner).session;
    return {
      transaction: (work) => {
        const fate = fateOf(this.#world, this.faults, ['lost', 'unanswered', 'aborted']);
        return call(this.#world, owner, fate, async () => {
          const primary = this.#route(owner);
          if (primary.session !== session) {
            session = primary.session;
            throw new ConnectionLost('the connection was lost');
          }
          const before = primary.engine.size();
          const result = await primary.engine.transaction(async (tx) => {
            const done = await work(tx);
            // The process did everything but commit.
            if (fate === 'aborted') throw new Unanswered('aborted');
            return done;
          });
          const kind = primary.engine.size() === before ? 'read' : 'commit';
          if (kind === 'commit') primary.history.push(primary.engine.save());
          this.onCall(owner, kind);
          return result;
        });
      },
    };
  }

  /** Another number after each loss, split or end of a split. */
  get version(): number {
    return this.#changes;
  }

  /** The number of events in the log that holds now. */
  get size(): number {
    return this.#newest.engine.size();
  }

  get isSplit(): boolean {
    return this.#primaries.length > 1;
  }

  /** Puts the database back by some commits. Noticed: a restore or a failover, which ends all connections. */
  rollBack(commits: number, noticed: boolean): void {
    this.#changes++;
    const primary = this.#newest;
    const kept = Math.max(1, primary.history.length - commits);
    primary.history.length = kept;
    primary.engine.load(primary.history[kept - 1]);
    if (noticed) primary.session = ++this.#sessions;
  }

  cut(): void {
    this.#newest.engine.cut((items) => this.#world.pick(items));
  }

  /**
   * Promotes an asynchronous standby that lacks the last commits; the old primary is gone. Not noticed: a proxy between the
   * processes and the database hides the lost connections.
   */
  failOver(lost: number, noticed: boolean): void {
    this.rollBack(lost, noticed);
    this.#newest.timeline = ++this.#timelines;
  }

  /** The same with the old primary alive: each process writes to one of the two. */
  split(lost: number): void {
    this.#changes++;
    const old = this.#newest;
    const next = this.#promote();
    const kept = Math.max(1, old.history.length - lost);
    next.history.splice(0, next.history.length, ...old.history.slice(0, kept));
    next.engine.load(next.history[kept - 1]);
    for (const owner of this.#routes.keys()) {
      if (this.#world.chance(0.5)) this.#routes.set(owner, next);
    }
  }

  /** Ends all primaries but one. */
  heal(): void {
    this.#changes++;
    const [first, ...rest] = this.#primaries;
    const kept = this.#world.chance(0.3) ? first : (rest.at(-1) ?? first);
    if (!kept) return;
    this.#primaries.splice(0, this.#primaries.length, kept);
    for (const owner of this.#routes.keys()) this.#routes.set(owner, kept);
  }

  /** Moves a process to the given primary, counted from the oldest. */
  move(owner: Owner, index: number): void {
    const primary = this.#primaries[index];
    if (primary) this.#routes.set(owner, primary);
  }

  get #newest(): Primary<Tx> {
    const primary = this.#primaries.at(-1);
    if (!primary) throw new Error('no primary');
    return primary;
  }

  #route(owner: Owner): Primary<Tx> {
    const known = this.#routes.get(owner);
    if (known) return known;
    const primary = this.#world.pick(this.#primaries) ?? this.#newest;
    this.#routes.set(owner, primary);
    return primary;
  }

  #promote(): Primary<Tx> {
    const timeline = ++this.#timelines;
    const primary: Primary<Tx> = {
      engine: this.#open({ now: () => this.#world.now, timeline: () => primary.timeline }),
      timeline,
      session: ++this.#sessions,
      history: [],
    };
    primary.history.push(primary.engine.save());
    this.#primaries.push(primary);
    return primary;
  }
}
