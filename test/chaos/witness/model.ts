import {
  AUDIT,
  type Bot,
  type BotKind,
  CHANNEL,
  DIGESTS,
  ENDED,
  LEASE_MS,
  type Payload,
  PERIOD_MS,
  POSTING_MS,
  type Ports,
  type Press,
} from './bot.ts';
import { ConnectionLost } from './database.ts';
import {
  type Draft,
  type Event,
  fold,
  isForeign,
  ModelEngine,
  type ModelTx,
  markOf,
  type Subject,
} from './model-log.ts';
import { type Rules, WITNESS } from './rules.ts';
import { type Mark, NoMessage, RateLimited, type Shown, type Thread } from './slack.ts';
import { Unanswered } from './world.ts';

/** The small model of a bot with one log and two witnesses. */
export function model(rules: Rules = WITNESS): BotKind<ModelTx> {
  return {
    open: (server) => new ModelEngine(server),
    boot: (ports) => new Model(ports, rules),
  };
}

const BUSY_MS = 2_000;
const IDLE_MS = 20_000;
const RETRY_MS = 2_000;
/** "Once a day", for walks that last a few hours. */
const SCAN_MS = 3_600_000;
const EXPIRY_MS = 1_800_000;
/** A press may be faster than the event that says where its card is. */
const PLACE_MS = 30_000;
/** Of the lease. The request must have arrived before the lease ends. */
const SEND_BEFORE_MS = LEASE_MS - 20_000;

/** The log as one transaction saw it. */
interface Log {
  readonly now: number;
  readonly streams: ReadonlyMap<string, readonly Event[]>;
}

/** The chain has a hole. */
class Damaged extends Error {}

/** The log lacks an event that this process knows. */
class WentBack extends Error {}

/** Any other error is one of the model itself and fails the walk. */
function isExpected(error: unknown): boolean {
  const kinds = [Damaged, WentBack, ConnectionLost, Unanswered, RateLimited, NoMessage];
  return kinds.some((kind) => error instanceof kind);
}

class Model implements Bot {
  readonly #ports: Ports<ModelTx>;
  readonly #rules: Rules;
  /** The last known event of each stream. */
  #heads = new Map<string, Event>();
  #last: Event | null = null;
  #timeline: number | null = null;
  #damaged = false;
  #scannedAt: number | null = null;
  /** The mark that a read of the card has shown. */
  readonly #drawn = new Map<string, string>();

  constructor(ports: Ports<ModelTx>, rules: Rules) {
    this.#ports = ports;
    this.#rules = rules;
    if (!rules.scanAtStart) this.#scannedAt = 0;
  }

  async run(): Promise<void> {
    for (;;) {
      try {
        const isBusy = await this.#round();
        await this.#ports.sleep(isBusy ? BUSY_MS : IDLE_MS);
      } catch (error) {
        await this.#recoverFrom(error);
        await this.#ports.sleep(this.#damaged ? IDLE_MS : RETRY_MS);
      }
    }
  }

  async receive(payload: Payload): Promise<void> {
    const { subject, by } = payload;
    await this.#append(({ now, streams }) => {
      if (payload.kind === 'press') {
        const stream = `press/${payload.id}`;
        const facts = { by, text: JSON.stringify(payload) };
        return streams.has(stream) ? [] : [{ stream, type: 'pressed', facts }];
      }
      if (streams.has(subject)) return [];
      if (payload.kind === 'freeze') return [{ stream: subject, type: 'created', facts: { by } }];
      const { target } = payload;
      if (payload.kind === 'schedule') {
        return [{ stream: subject, type: 'scheduled', facts: { by, target } }];
      }
      const { need } = payload;
      const facts = { by, target, need, expires: now + EXPIRY_MS };
      return [{ stream: subject, type: 'requested', facts }];
    });
    if (payload.kind === 'freeze' && !this.#rules.freezePosted) {
      this.#ports.tell(by, subject, 'frozen');
    }
  }

  // One round: everything that is due according to the log.

  /** True: something is in motion. */
  async #round(): Promise<boolean> {
    let log = await this.#read();
    const isDue = this.#scannedAt === null || this.#isScanDue(this.#scannedAt);
    if (isDue && this.#rules.scanFirst) {
      await this.#scanOrGiveUp();
      log = await this.#read();
    }
    let isBusy = false;
    for (const [stream, events] of log.streams) {
      const work = this.#workOf(stream, events, log);
      if (!work) continue;
      isBusy = true;
      await this.#alone(work);
    }
    await this.#alone(() => this.#tendDigest(log));
    if (isDue && !this.#rules.scanFirst) await this.#scanOrGiveUp();
    return isBusy;
  }

  #workOf(stream: string, events: readonly Event[], log: Log): (() => Promise<void>) | null {
    const { now } = log;
    const [kind] = stream.split('/');
    if (kind === 'press') return events.length === 1 ? () => this.#answer(stream) : null;
    if (kind === 'run') return isOver(events, now) ? () => this.#endRun(stream) : null;
    const isDrawn = this.#drawn.get(stream) === events.at(-1)?.hash;
    if (kind === 'schedule') {
      const mayRun = fold(events)?.state === 'scheduled' && !isFrozen(log.streams);
      const isSettled = isDrawn && (log.streams.has(runOf(stream, now)) || !mayRun);
      return isSettled ? null : () => this.#tendSchedule(stream);
    }
    if (kind !== 'change' && kind !== 'freeze') return null;
    if (kind === 'freeze') return isDrawn ? null : () => this.#tendFreeze(stream);
    const { state = '', expires = 0, claim = null } = fold(events) ?? {};
    const isDue =
      (state === 'pending' && now >= expires) ||
      state === 'approved' ||
      (state === 'executing' && now > (claim?.until ?? 0));
    return isDrawn && !isDue ? null : () => this.#tendChange(stream);
  }

  #isScanDue(scannedAt: number): boolean {
    return this.#rules.scanDaily && this.#ports.elapsed() - scannedAt >= SCAN_MS;
  }

  async #scanOrGiveUp(): Promise<void> {
    try {
      await this.#scan();
    } catch (error) {
      if (this.#rules.unreadableStops || error instanceof WentBack) throw error;
    }
    this.#scannedAt = this.#ports.elapsed();
  }

  /** One subject that cannot be handled now does not stop the others. */
  async #alone(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const isOfSlack = error instanceof NoMessage || error instanceof RateLimited;
      if (!isOfSlack && !(error instanceof Unanswered)) throw error;
    }
  }

  async #recoverFrom(error: unknown): Promise<void> {
    if (!isExpected(error)) throw error;
    if (error instanceof Damaged) this.#damaged = true;
    if (error instanceof WentBack) await this.#answerGoneEnds();
  }

  // The log: every transaction follows it first.

  async #transaction<T>(work: (tx: ModelTx, log: Log) => T): Promise<{ result: T; log: Log }> {
    try {
      const done = await this.#ports.database.transaction((tx) => {
        const { now, streams } = tx;
        this.#follow(tx, streams);
        const result = work(tx, { now, streams });
        return { result, log: { now, streams: tx.streams }, last: tx.events.at(-1) };
      });
      // What was appended is remembered once the commit was answered.
      this.#remember(done.log.streams, done.last);
      return done;
    } catch (error) {
      if (error instanceof ConnectionLost && this.#rules.scanLostConnection) this.#scannedAt = null;
      throw error;
    }
  }

  async #read(): Promise<Log> {
    return (await this.#transaction(() => null)).log;
  }

  async #append(decide: (log: Log) => readonly Draft[]): Promise<Log> {
    return (await this.#transaction((tx, log) => decide(log).map((draft) => tx.append(draft)))).log;
  }

  #follow(tx: ModelTx, streams: Log['streams']): void {
    if (tx.timeline !== this.#timeline) {
      if (this.#timeline !== null && this.#rules.scanNewTimeline) this.#scannedAt = null;
      this.#timeline = tx.timeline;
    }
    if (this.#rules.memory) {
      for (const head of this.#heads.values()) {
        if (!contains(streams, head)) throw new WentBack(head.stream);
      }
    }
    if (!this.#rules.damagedStops) return;
    const from = this.#damaged || tx.events[(this.#last?.seq ?? 0) - 1]?.hash !== this.#last?.hash;
    verify(tx.events, from ? 0 : (this.#last?.seq ?? 0));
    this.#damaged = false;
  }

  #remember(streams: Log['streams'], last: Event | undefined): void {
    for (const [stream, events] of streams) {
      const end = events.at(-1);
      if (end && end.version > (this.#heads.get(stream)?.version ?? 0)) {
        this.#heads.set(stream, end);
      }
    }
    if (last && last.seq > (this.#last?.seq ?? 0)) this.#last = last;
  }

  /** The log does not contain what this process knows: it answers that, and knows only the log from now on. */
  async #answerGoneEnds(): Promise<void> {
    const known = this.#heads;
    this.#heads = new Map();
    this.#last = null;
    this.#drawn.clear();
    if (this.#rules.scanGoneEnd) this.#scannedAt = null;
    try {
      const { streams } = await this.#read();
      for (const head of known.values()) {
        if (contains(streams, head)) continue;
        if (head.stream.startsWith('freeze/') && !streams.has(head.stream)) {
          await this.#findFreeze(head.stream, null, head.hash);
        } else await this.#restore(head.stream, [head], ATTEMPTED.has(head.type));
      }
    } catch (error) {
      // Until all are answered, this process knows them, and finds them gone again.
      this.#heads = known;
      if (!isExpected(error)) throw error;
      if (error instanceof Damaged) this.#damaged = true;
    }
  }

  // Slack as the second witness.

  #isForeign(events: readonly Event[], mark: Mark): boolean {
    if (this.#rules.compareHash) return isForeign(events, mark);
    return mark.version > events.length;
  }

  /** Reads the own messages of each channel. The log is read later than the channel, so that it knows every honest mark. */
  async #scan(): Promise<void> {
    for (const channel of this.#rules.scanAudit ? [CHANNEL, AUDIT] : [CHANNEL]) {
      const messages = await this.#messages(channel, this.#rules.scanPages);
      for (const { ts, shown } of messages) await this.#compare(channel, ts, shown);
    }
  }

  async #messages(channel: string, all: boolean): Promise<{ ts: string; shown: Shown }[]> {
    const messages: { ts: string; shown: Shown }[] = [];
    let cursor: number | null = 0;
    while (cursor !== null) {
      const page = await this.#ports.slack.history(channel, cursor);
      messages.push(...page.messages);
      cursor = all ? page.next : null;
    }
    return messages;
  }

  async #compare(channel: string, ts: string, shown: Shown): Promise<void> {
    const { streams } = await this.#read();
    const events = streams.get(shown.subject);
    const subject = events && fold(events);
    if (channel === AUDIT) {
      // The line of a run names its schedule, so that a run that the log has lost is known again.
      const isKnown = events !== undefined || shown.subject.startsWith('run/');
      if (isKnown && this.#isForeign(events ?? [], shown.mark)) {
        await this.#restore(shown.subject, [shown.mark], true);
      }
      return;
    }
    if (!events || !subject) {
      if (shown.subject.startsWith('freeze/')) {
        await this.#findFreeze(shown.subject, ts, shown.mark.hash);
      } else if (this.#rules.drawLost && shown.state !== 'lost') {
        await this.#ports.slack.update(ts, { ...shown, state: 'lost', mark: lostMark(shown) });
      }
      return;
    }
    const isOpen = !ENDED.has(subject.state) || this.#isForeign(events, shown.mark);
    if (isOpen && this.#rules.scanThreads) {
      const thread = await this.#ports.slack.thread(ts);
      if (await this.#disagrees(subject, thread)) return;
    } else if (this.#isForeign(events, shown.mark)) {
      await this.#restore(shown.subject, [shown.mark], false);
      return;
    }
    // A late older drawing is drawn over again.
    if (subject.ts === ts && shown.mark.hash !== markOf(events).hash) {
      this.#drawn.delete(shown.subject);
    }
    if (subject.ts && subject.ts !== ts && shown.state !== 'elsewhere') {
      await this.#ports.slack.update(ts, { ...shown, state: 'elsewhere', mark: markOf(events) });
    }
  }

  /** Answers foreign marks of a card and its thread. True: there were some of this subject. */
  async #disagrees(subject: Subject, { shown, notes }: Thread): Promise<boolean> {
    const { events, stream } = subject;
    for (const { mark } of notes.filter((note) => note.mark.stream.startsWith('run/'))) {
      const run = (await this.#read()).streams.get(mark.stream) ?? [];
      if (this.#isForeign(run, mark)) await this.#restore(mark.stream, [mark], true);
    }
    const own = notes.filter(({ mark }) => mark.stream === stream);
    const foreign = own.filter(({ mark }) => this.#isForeign(events, mark));
    const marks = foreign.map(({ mark }) => mark);
    if (shown !== 'deleted' && this.#isForeign(events, shown.mark)) marks.push(shown.mark);
    if (marks.length === 0) return false;
    const attempted = foreign.some(({ attempt }) => attempt !== null);
    await this.#restore(stream, marks, attempted);
    return true;
  }

  /** Answers marks that the log lacks. Attempted: one of them is that of a claim, so a request may have been sent. */
  async #restore(stream: string, marks: readonly Mark[], attempted: boolean): Promise<void> {
    let isAppended = false;
    await this.#append(({ streams }) => {
      isAppended = false;
      const events = streams.get(stream) ?? [];
      if (stream.startsWith('run/') && events.length === 0) {
        // The log does not know this run: from now on it does, so that it does not run again.
        isAppended = true;
        return [{ stream, type: 'unknown', facts: { foreign: marks.map(({ hash }) => hash) } }];
      }
      const subject = fold(events);
      if (!subject || !/^(change|freeze|schedule|run)\//.test(stream)) return [];
      const foreign = marks.filter((mark) => isForeign(events, mark)).map(({ hash }) => hash);
      if (foreign.length === 0) return [];
      const facts = { foreign: this.#rules.answerMarks ? foreign : [] };
      const type = this.#typeOfRestored(subject, attempted);
      const isChange = stream.startsWith('change/');
      const target = isChange && type === 'unknown' ? take(streams, subject) : [];
      const freed = isChange && type === 'stale' ? release(streams, subject) : [];
      isAppended = true;
      return [{ stream, type, facts }, ...target, ...freed];
    });
    if (isAppended) this.#ports.tell('operators', stream, 'restored');
  }

  #typeOfRestored({ stream, state }: Subject, attempted: boolean): string {
    if (state === 'scheduled' && this.#rules.pauseLost) return 'paused';
    if (/^(freeze|schedule)\//.test(stream) || !this.#rules.endForeign) return 'restored';
    if (['succeeded', 'failed', 'unknown'].includes(state)) return 'restored';
    if (state === 'executing') return this.#rules.executingIsUnknown ? 'unknown' : 'stale';
    if (attempted && this.#rules.noteIsUnknown) return 'unknown';
    return ENDED.has(state) ? 'restored' : 'stale';
  }

  /** A freeze that the log does not know is in force until a person lifts it. */
  async #findFreeze(stream: string, ts: string | null, hash: string): Promise<void> {
    if (!this.#rules.foreignFreeze) return;
    const facts = { foreign: [hash], ...(ts ? { ts } : {}) };
    await this.#append(({ streams }) =>
      streams.has(stream) ? [] : [{ stream, type: 'found', facts }],
    );
  }

  // Messages.

  /** True: a read showed the last event of the subject. */
  async #draw(stream: string): Promise<boolean> {
    const events = (await this.#read()).streams.get(stream);
    const subject = events && fold(events);
    if (!events || !subject) return false;
    const { state, ts } = subject;
    const mark = markOf(events);
    if (this.#drawn.get(stream) === mark.hash) return true;
    if (!ts) {
      await this.#place(subject);
      return false;
    }
    const { slack } = this.#ports;
    if (this.#rules.readBeforeDraw || this.#rules.drawnIfRead) {
      const thread = await slack.thread(ts);
      if (thread.shown === 'deleted') {
        await this.#endDeleted(subject);
        this.#drawn.set(stream, mark.hash);
        return true;
      }
      if (this.#rules.readBeforeDraw && (await this.#disagrees(subject, thread))) return false;
      if (thread.shown.mark.hash === mark.hash) {
        this.#drawn.set(stream, mark.hash);
        return true;
      }
      const isNoted = thread.notes.some((note) => note.mark.hash === mark.hash);
      if (this.#rules.endNote && ENDED.has(state) && !isNoted) {
        // The next round reads the thread again: an attempt of another log may stand before this note.
        await slack.reply(ts, { text: state, mark, attempt: null });
        return false;
      }
    }
    await slack.update(ts, { subject: stream, state, plan: planOf(stream), mark });
    if (this.#rules.drawnIfRead) return false;
    this.#drawn.set(stream, mark.hash);
    return true;
  }

  /** Finds the card of a subject that has none in the log, or posts it. */
  async #place(subject: Subject): Promise<void> {
    const { stream, state, events } = subject;
    if (!(await this.#transaction((tx) => tx.lease(stream, POSTING_MS))).result) return;
    const find = async () => {
      const messages = await this.#messages(CHANNEL, true);
      return messages.filter(({ shown }) => shown.subject === stream);
    };
    let found = await find();
    let posted: string | null = null;
    if (found.length === 0) {
      const shown = { subject: stream, state, plan: planOf(stream), mark: markOf(events) };
      posted = await this.#ports.slack.post(CHANNEL, shown);
      // Another primary may have posted a card at the same time: the first one in the channel is the witness of both.
      if (this.#rules.firstCard) found = await find();
    }
    for (const { ts } of found) {
      if (await this.#disagrees(subject, await this.#ports.slack.thread(ts))) return;
    }
    const ts = found.at(-1)?.ts ?? posted;
    if (!ts) return;
    await this.#append(({ streams }) => {
      const isPlaced = fold(streams.get(stream) ?? [])?.ts;
      return isPlaced ? [] : [{ stream, type: 'card-posted', facts: { ts } }];
    });
  }

  /** A change whose card was deleted ends. */
  async #endDeleted({ stream }: Subject): Promise<void> {
    await this.#append(({ streams }) => {
      const subject = fold(streams.get(stream) ?? []);
      const isWaiting = subject?.state === 'pending' || subject?.state === 'approved';
      return isWaiting ? [{ stream, type: 'stale', facts: {} }] : [];
    });
  }

  async #tendFreeze(stream: string): Promise<void> {
    const before = this.#drawn.has(stream);
    const isDrawn = await this.#draw(stream);
    const subject = fold((await this.#read()).streams.get(stream) ?? []);
    if (!isDrawn || before || subject?.state !== 'frozen' || !subject.by) return;
    this.#ports.tell(subject.by, stream, 'frozen');
  }

  // Schedules and digests.

  async #tendSchedule(stream: string): Promise<void> {
    const isDrawn = await this.#draw(stream);
    const { now, streams } = await this.#read();
    const subject = fold(streams.get(stream) ?? []);
    const run = runOf(stream, now);
    if (!isDrawn || !subject?.ts || streams.has(run) || this.#scannedAt === null) return;
    if (subject.state !== 'scheduled') return;
    const { ts, target } = subject;
    if (this.#rules.slackFirst) {
      const thread = await this.#ports.slack.thread(ts);
      if (thread.shown === 'deleted' || (await this.#disagrees(subject, thread))) return;
    }
    const began = this.#ports.elapsed();
    const nonce = this.#ports.nonce();
    const log = await this.#append((fresh) => {
      if (fresh.streams.has(run) || isFrozen(fresh.streams)) return [];
      if (fold(fresh.streams.get(stream) ?? [])?.state !== 'scheduled') return [];
      if (this.#rules.pressBlocksClaim && hasUnansweredPress(fresh.streams, stream)) return [];
      const facts = { nonce, target, until: fresh.now + LEASE_MS };
      return [{ stream: run, type: 'claimed', facts }];
    });
    const claimed = log.streams.get(run);
    if (claimed?.[0]?.facts.nonce !== nonce) return;
    const maySend = !this.#rules.scheduleNote || (await this.#isConfirmed(ts, claimed, nonce));
    const isLate = this.#rules.withinLease && this.#ports.elapsed() - began > SEND_BEFORE_MS;
    const outcome = maySend && !isLate ? await this.#send(run, target) : 'not-sent';
    await this.#auditLine(claimed, outcome);
    await this.#finish(run, nonce, outcome);
  }

  async #endRun(stream: string): Promise<void> {
    await this.#append(({ now, streams }) => {
      const events = streams.get(stream) ?? [];
      return isOver(events, now) ? [{ stream, type: 'unknown', facts: {} }] : [];
    });
  }

  /** A post without an answer is never repeated: it is found in the channel, or missed. */
  async #tendDigest({ now, streams }: Log): Promise<void> {
    const stream = `digest/${Math.floor(now / PERIOD_MS)}`;
    if (streams.has(stream) || this.#scannedAt === null) return;
    if (this.#rules.digestSearch) {
      const found = await this.#messages(DIGESTS, true);
      const own = found.find(({ shown }) => shown.subject === stream);
      if (own) {
        await this.#append((log) =>
          log.streams.has(stream) ? [] : [{ stream, type: 'posted', facts: { ts: own.ts } }],
        );
        return;
      }
    }
    const nonce = this.#ports.nonce();
    const began = this.#ports.elapsed();
    const log = await this.#append((fresh) =>
      fresh.streams.has(stream) ? [] : [{ stream, type: 'posting', facts: { nonce } }],
    );
    const posting = log.streams.get(stream);
    const isLate = this.#ports.elapsed() - began > POSTING_MS;
    if (posting?.[0]?.facts.nonce !== nonce || isLate) return;
    const shown = { subject: stream, state: 'digest', plan: '', mark: markOf(posting) };
    const ts = await this.#ports.slack.post(DIGESTS, shown);
    await this.#append(() => [{ stream, type: 'posted', facts: { ts } }]);
  }

  // Presses.

  async #answer(stream: string): Promise<void> {
    const { now, streams } = await this.#read();
    const [pressed] = streams.get(stream) ?? [];
    if (!pressed || streams.get(stream)?.length !== 1) return;
    const press = JSON.parse(pressed.facts.text ?? '') as Press;
    const events = streams.get(press.subject);
    const subject = events && fold(events);
    const isHere = subject?.ts === press.ts;
    if (!isHere && now - pressed.at < PLACE_MS) return;
    let what = 'not from here';
    if (isHere) {
      what = await this.#decide(press);
      if (this.#rules.tellAfterCard && !(await this.#draw(press.subject))) return;
    }
    this.#ports.tell(press.by, press.subject, what);
    await this.#append((log) => {
      const isAnswered = log.streams.get(stream)?.length !== 1;
      return isAnswered ? [] : [{ stream, type: 'answered', facts: { text: what } }];
    });
  }

  /** What the press led to: a state, or why it is refused. */
  async #decide(press: Press): Promise<string> {
    const log = await this.#append(({ now, streams }) => {
      const subject = fold(streams.get(press.subject) ?? []);
      if (!subject || subject.presses.has(press.id)) return [];
      return decide(subject, press, now, streams);
    });
    const subject = fold(log.streams.get(press.subject) ?? []);
    return subject?.presses.has(press.id) ? subject.state : 'refused';
  }

  // Changes.

  async #tendChange(stream: string): Promise<void> {
    await this.#draw(stream);
    const { now, streams } = await this.#read();
    const subject = fold(streams.get(stream) ?? []);
    if (!subject) return;
    const { state, expires, claim } = subject;
    const isWaiting = state === 'pending' || state === 'approved';
    if (isWaiting && now >= expires) await this.#appendIf(stream, state, 'expired');
    else if (state === 'approved') await this.#execute(subject);
    else if (state === 'executing' && claim && now > claim.until) {
      await this.#finish(stream, claim.nonce, 'unknown');
    }
  }

  async #appendIf(stream: string, state: string, type: string): Promise<void> {
    await this.#append(({ streams }) => {
      const subject = fold(streams.get(stream) ?? []);
      return subject?.state === state ? [{ stream, type, facts: {} }] : [];
    });
  }

  /** Slack is readable → claim → note → read back → within the lease → send → outcome. Nothing is moved. */
  async #execute(subject: Subject): Promise<void> {
    const { stream, ts, target } = subject;
    if (!ts || this.#scannedAt === null) return;
    if (this.#rules.slackFirst) {
      const thread = await this.#ports.slack.thread(ts);
      if (thread.shown === 'deleted') return await this.#endDeleted(subject);
      if (await this.#disagrees(subject, thread)) return;
    }
    const began = this.#ports.elapsed();
    const nonce = this.#ports.nonce();
    const claimed = await this.#claim(stream, nonce);
    const last = claimed?.at(-1);
    if (!claimed || last?.facts.nonce !== nonce) return;
    const maySend = await this.#isConfirmed(ts, claimed, nonce);
    const isLate = this.#rules.withinLease && this.#ports.elapsed() - began > SEND_BEFORE_MS;
    if (!maySend || isLate) return await this.#finish(stream, nonce, 'not-sent');
    const outcome = await this.#send(stream, target);
    await this.#auditLine(claimed, outcome);
    await this.#finish(stream, nonce, outcome);
  }

  /** Posts the line about an execution, also that of a run. */
  async #auditLine(claimed: readonly Event[], outcome: string): Promise<void> {
    if (!this.#rules.auditLine || outcome === 'not-sent') return;
    const mark = markOf(claimed);
    const shown = { subject: mark.stream, state: 'executed', plan: '', mark };
    await this.#alone(() => this.#ports.slack.post(AUDIT, shown));
  }

  /** The stream that ends with the new claim; null if the gate refuses. */
  async #claim(stream: string, nonce: string): Promise<readonly Event[] | null> {
    let claimed: readonly Event[] | null = null;
    const claim = ({ now, streams }: Log): readonly Draft[] => {
      const subject = fold(streams.get(stream) ?? []);
      if (subject?.state !== 'approved' || now >= subject.expires) return [];
      if (this.#rules.pressBlocksClaim && hasUnansweredPress(streams, stream)) return [];
      if (isFrozen(streams) || !isFree(streams, subject)) return [];
      const facts = { nonce, until: now + LEASE_MS };
      return [{ stream, type: 'claimed', facts }, ...take(streams, subject)];
    };
    try {
      await this.#transaction((tx, log) => {
        for (const draft of claim(log)) tx.append(draft);
        claimed = tx.streams.get(stream) ?? null;
      });
    } catch (error) {
      if (this.#rules.commitAnswered || !(error instanceof Unanswered)) throw error;
    }
    return claimed;
  }

  async #isConfirmed(ts: string, claimed: readonly Event[], nonce: string): Promise<boolean> {
    try {
      return await this.#witness(ts, claimed, nonce);
    } catch (error) {
      if (!(error instanceof Unanswered)) return false;
      return !this.#rules.failureIsNotSent;
    }
  }

  /** Posts the note of an attempt and reads it back. True: the thread agrees with the log. */
  async #witness(ts: string, claimed: readonly Event[], nonce: string): Promise<boolean> {
    const { slack } = this.#ports;
    const mark = markOf(claimed);
    const stream = mark.stream;
    if (this.#rules.register && stream.startsWith('change/')) {
      await slack.update(ts, { subject: stream, state: 'executing', plan: planOf(stream), mark });
      return true;
    }
    const note = { text: 'Sending…', mark, attempt: nonce };
    const own = this.#rules.postNote ? await slack.reply(ts, note) : null;
    if (!this.#rules.readBack) return true;
    const thread = await slack.thread(ts);
    if (thread.shown === 'deleted') return false;
    const index = thread.notes.findIndex(({ attempt }) => attempt === nonce);
    if (own !== null && thread.notes[index]?.ts !== own) return false;
    const before = own !== null && this.#rules.earlierWins ? index : thread.notes.length;
    const notes = this.#rules.seeNotes ? thread.notes.slice(0, before) : [];
    const marks = notes.map((each) => each.mark);
    if (this.#rules.seeCard) marks.push(thread.shown.mark);
    const { streams } = await this.#read();
    const events = this.#rules.judgeByClaim ? claimed : (streams.get(stream) ?? []);
    const foreign = marks.filter((each) => each.stream === stream && this.#isForeign(events, each));
    if (foreign.length === 0) return true;
    await this.#restore(stream, foreign, true);
    return false;
  }

  async #send(stream: string, target: string): Promise<string> {
    try {
      const answer = await this.#ports.api.send(stream, target);
      return { ok: 'succeeded', refused: 'failed', busy: 'not-sent' }[answer];
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      return 'unknown';
    }
  }

  /** Ends the attempt, if the log still has it. */
  async #finish(stream: string, nonce: string, type: string): Promise<void> {
    await this.#append(({ streams }) => {
      const subject = fold(streams.get(stream) ?? []);
      if (subject?.claim?.nonce !== nonce || subject.state !== 'executing') return [];
      const freed = type === 'unknown' ? [] : release(streams, subject);
      return [{ stream, type, facts: { nonce } }, ...freed];
    });
  }
}

/** After these events a request may have been sent. */
const ATTEMPTED: ReadonlySet<string> = new Set(['claimed', 'succeeded', 'failed', 'unknown']);

function runOf(schedule: string, now: number): string {
  return `${schedule.replace('schedule/', 'run/')}/${Math.floor(now / PERIOD_MS)}`;
}

/** The claim of a run has no outcome within its lease. */
function isOver(events: readonly Event[], now: number): boolean {
  const { state, claim } = fold(events) ?? {};
  return state === 'executing' && now > (claim?.until ?? 0);
}

function planOf(stream: string): string {
  return `plan of ${stream}`;
}

function lostMark({ subject }: Shown): Mark {
  return { stream: subject, version: 0, hash: `lost ${subject}` };
}

function contains(streams: Log['streams'], { stream, version, hash }: Event): boolean {
  return streams.get(stream)?.[version - 1]?.hash === hash;
}

function verify(events: readonly Event[], from: number): void {
  for (let i = from; i < events.length; i++) {
    const event = events[i];
    if (!event || event.seq !== i + 1) throw new Damaged(`no event ${i + 1}`);
    if (event.prev !== (events[i - 1]?.hash ?? '')) throw new Damaged(`event ${event.seq}`);
  }
}

// The gate.

function decide(
  subject: Subject,
  press: Press,
  now: number,
  streams: Log['streams'],
): readonly Draft[] {
  const { stream, state } = subject;
  const { verb, by } = press;
  const facts = { by, press: press.id };
  const isOpen = state === 'pending' || state === 'approved';
  if (verb === 'pause') return state === 'scheduled' ? [{ stream, type: 'paused', facts }] : [];
  if (verb === 'resume') return state === 'paused' ? [{ stream, type: 'resumed', facts }] : [];
  if (verb === 'lift') return state === 'frozen' ? [{ stream, type: 'lifted', facts }] : [];
  if (verb === 'happened' || verb === 'did not happen') {
    if (state !== 'unknown') return [];
    const text = verb === 'happened' ? 'succeeded' : 'failed';
    const freed = release(streams, subject);
    return [{ stream, type: 'resolved', facts: { ...facts, text } }, ...freed];
  }
  if (!isOpen || now >= subject.expires) return [];
  if (verb === 'cancel') return by === subject.by ? [{ stream, type: 'cancelled', facts }] : [];
  if (state !== 'pending' || by === subject.by) return [];
  if (verb === 'reject') return [{ stream, type: 'rejected', facts }];
  if (press.plan !== planOf(stream) || subject.approvals.includes(by)) return [];
  return [{ stream, type: 'approved', facts }];
}

function hasUnansweredPress(streams: Log['streams'], change: string): boolean {
  return [...streams].some(([stream, events]) => {
    if (!stream.startsWith('press/') || events.length !== 1) return false;
    return (JSON.parse(events[0]?.facts.text ?? '') as Press).subject === change;
  });
}

function isFrozen(streams: Log['streams']): boolean {
  return [...streams].some(
    ([stream, events]) => stream.startsWith('freeze/') && fold(events)?.state === 'frozen',
  );
}

// The lock of a target is a stream of its own. After a restore several changes may hold it: each until its own end.

function holdersOf(streams: Log['streams'], target: string): ReadonlySet<string> {
  const holders = new Set<string>();
  for (const { type, facts } of streams.get(`target/${target}`) ?? []) {
    if (type === 'taken') holders.add(facts.change ?? '');
    else holders.delete(facts.change ?? '');
  }
  return holders;
}

function isFree(streams: Log['streams'], { stream, target }: Subject): boolean {
  return [...holdersOf(streams, target)].every((holder) => holder === stream);
}

function take(streams: Log['streams'], { stream, target }: Subject): readonly Draft[] {
  if (holdersOf(streams, target).has(stream)) return [];
  return [{ stream: `target/${target}`, type: 'taken', facts: { change: stream } }];
}

function release(streams: Log['streams'], { stream, target }: Subject): readonly Draft[] {
  if (!holdersOf(streams, target).has(stream)) return [];
  return [{ stream: `target/${target}`, type: 'released', facts: { change: stream } }];
}
