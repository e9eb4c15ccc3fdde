import { Api } from './api.ts';
import { type Bot, type BotKind, CHANNEL, type Payload, type Press } from './bot.ts';
import { Databases } from './database.ts';
import { Oracle } from './oracle.ts';
import { type Message, Slack } from './slack.ts';
import { Owner, World } from './world.ts';

const SOON_MS = 600_000;
const DELIVERIES = 3;
const AGAIN_MS = 10_000;

/** The calls of a process that had their effect. */
export type Call = 'post' | 'update' | 'reply' | 'thread' | 'history' | 'commit' | 'read';

/** A world for one script: a few processes that run when the script starts them, one database, Slack, the API, the oracle. */
export class Stage<Tx> {
  readonly world: World;
  readonly databases: Databases<Tx>;
  readonly slack: Slack;
  readonly api: Api;
  readonly oracle: Oracle;
  /** Of the newest database. */
  commits = 0;
  /** After the effect of each call, before its answer. */
  onCall: (process: number, call: Call) => void = () => {};
  readonly #processes: readonly { readonly owner: Owner; readonly bot: Bot }[];
  readonly #failures: unknown[] = [];
  readonly #told = new Set<string>();
  #presses = 0;

  constructor(seed: number, kind: BotKind<Tx>, size: number) {
    const world = new World(seed);
    this.world = world;
    this.databases = new Databases(world, (server) => kind.open(server));
    this.slack = new Slack(world);
    this.api = new Api(world);
    this.oracle = new Oracle(world, this.slack, this.api);
    this.#processes = Array.from({ length: size }, (_, index) => {
      const owner = new Owner(`p${index}`);
      const bot = kind.boot({
        name: owner.name,
        database: this.databases.connect(owner),
        slack: this.slack.connect(owner),
        api: this.api.connect(owner),
        clock: () => world.now,
        elapsed: () => world.now,
        sleep: (ms) => world.turn(owner, ms),
        nonce: () => `${owner.name}-${world.below(1e9)}`,
        tell: (person, subject, what) => {
          this.#told.add(`${subject} ${what}`);
          this.oracle.told(person, subject, what);
        },
      });
      return { owner, bot };
    });
    const called = (owner: Owner, call: Call) => {
      if (call === 'commit') this.commits++;
      this.onCall(
        this.#processes.findIndex((process) => process.owner === owner),
        call,
      );
    };
    this.slack.onCall = (owner, method) => called(owner, method as Call);
    this.databases.onCall = called;
  }

  start(...processes: readonly number[]): void {
    for (const index of processes) this.#of(index).bot.run().catch(this.#keep);
  }

  hang(process: number, ms: number): void {
    this.#of(process).owner.pausedUntil = this.world.now + ms;
  }

  kill(process: number): void {
    this.#of(process).owner.alive = false;
  }

  /** False: it did not happen within ten minutes. */
  async until(isDone: () => boolean, ms = SOON_MS): Promise<boolean> {
    for (const end = this.world.now + ms; this.world.now < end && !isDone(); ) {
      if (!(await this.world.step())) break;
    }
    return isDone();
  }

  async pass(ms: number): Promise<void> {
    await this.until(() => false, ms);
  }

  /** Ada requests a change or a freeze. */
  request(process: number, subject: string, target: string, need: number): void {
    this.oracle.requested(subject, 'ada', target, need);
    void this.#send(process, { kind: 'request', subject, by: 'ada', target, need });
  }

  freeze(process: number, subject: string): void {
    void this.#send(process, { kind: 'freeze', subject, by: 'ada' });
  }

  /** A person looks at the card and presses. Returns whether Slack got its answer by now. */
  press(process: number, subject: string, verb: Press['verb'], by: string): () => boolean {
    const card = this.card(subject);
    if (!card) throw new Error(`${subject} has no card`);
    const { ts, shown } = card;
    this.oracle.saw(card);
    const id = `press-${++this.#presses}`;
    const press = { id, verb, subject, by, ts, plan: shown.plan, seen: shown.mark } as const;
    this.oracle.pressed({ kind: 'press', ...press });
    let isAcknowledged = false;
    void this.#send(process, { kind: 'press', ...press }).then(() => {
      isAcknowledged = true;
    });
    return () => isAcknowledged;
  }

  card(subject: string): Message | undefined {
    return this.slack.messages.find(
      ({ channel, shown }) => channel === CHANNEL && shown.subject === subject,
    );
  }

  shows(subject: string, state: string): boolean {
    return this.card(subject)?.shown.state === state;
  }

  wasTold(subject: string, what: string): boolean {
    return this.#told.has(`${subject} ${what}`);
  }

  /** The database loses everything since this number of commits. */
  lose(since: number, how: 'failover' | 'connections end' | 'unnoticed'): void {
    this.oracle.isHonest = false;
    const lost = this.commits - since;
    this.commits = since;
    if (how === 'failover') this.databases.failOver(lost, false);
    else this.databases.rollBack(lost, how === 'connections end');
  }

  /** Two primaries: these processes write to the new one. */
  split(...moved: readonly number[]): void {
    this.oracle.isHonest = false;
    this.oracle.isWhole = false;
    this.databases.split(0);
    for (const [index, { owner }] of this.#processes.entries()) {
      this.databases.move(owner, moved.includes(index) ? 1 : 0);
    }
  }

  end(): void {
    for (const { owner } of this.#processes) owner.alive = false;
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  readonly #keep = (error: unknown): void => {
    this.#failures.push(error);
  };

  /** Slack delivers again what was not acknowledged. */
  async #send(process: number, payload: Payload): Promise<void> {
    for (let i = 0; i < DELIVERIES; i++) {
      const isDone = await this.#of(process)
        .bot.receive(payload)
        .then(
          () => true,
          () => false,
        );
      if (isDone) return;
      await this.world.turn(this.world.network, AGAIN_MS);
    }
  }

  #of(process: number): { readonly owner: Owner; readonly bot: Bot } {
    const found = this.#processes[process];
    if (!found) throw new Error(`no process ${process}`);
    return found;
  }
}
