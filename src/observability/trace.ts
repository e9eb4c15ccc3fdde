/**
 * What takes time, told to whoever traces; to nobody unless traces are switched on, and then none
 * of this costs anything. Names and values come from closed lists of ours: what a person or a server
 * wrote has no place in a trace.
 */
export interface Work {
  readonly name: string;
  /** `server`: somebody waits for it. `consumer`: it was left here. `client`: we wait for others. */
  readonly kind?: 'server' | 'consumer' | 'client';
  readonly facts?: Facts;
  /** What it goes on from, as `traceHere` told it, maybe to another replica. */
  readonly from?: string | null;
}

/** By OpenTelemetry's own names, or ours with `signalbox.` before them. */
export type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

/** By the names that log lines are tied to traces with. */
export interface TraceIds {
  readonly trace_id: string;
  readonly span_id: string;
}

export interface Tracer {
  readonly traced: <T>(work: Work, run: () => Promise<T>) => Promise<T>;
  readonly past: (work: Work, tookMs: number) => void;
  readonly note: (facts: Facts, name?: string) => void;
  readonly outsideTrace: <T>(run: () => T) => T;
  readonly ids: () => TraceIds | null;
  readonly here: () => string | null;
}

// One for a process, like its log: who is in the middle of something need not be handed it.
let tracer: Tracer | null = null;

/** From now on all is told to this one; null: to nobody. */
export function traceBy(next: Tracer | null): void {
  tracer = next;
}

/** A piece of work of its own, or a part of the one that is under way. */
export function traced<T>(work: Work, run: () => Promise<T>): Promise<T> {
  return tracer ? tracer.traced(work, run) : run();
}

/** A part of the work under way. Where nothing is under way nobody asked for it, and it is not told. */
export function step<T>(work: Work, run: () => Promise<T>): Promise<T> {
  return tracer?.here() ? tracer.traced(work, run) : run();
}

/** The same for what is over. */
export function pastStep(work: Work, tookMs: number): void {
  if (tracer?.here()) tracer.past(work, tookMs);
}

/** Something about the work under way; under `error.type`, that it went wrong. */
export function note(facts: Facts, name?: string): void {
  tracer?.note(facts, name);
}

/** Whatever is told within is no part of the work under way, which only happened to begin it. */
export function apart<T>(run: () => T): T {
  return tracer ? tracer.outsideTrace(run) : run();
}

/** Where the work under way can be gone on from, as text to keep; undefined where there is none. */
export function traceHere(): string | undefined {
  return tracer?.here() ?? undefined;
}

/** Empty unless what is under way is traced. */
export function traceIds(): TraceIds | Record<string, never> {
  return tracer?.ids() ?? {};
}

export function isTracing(): boolean {
  return tracer !== null;
}
