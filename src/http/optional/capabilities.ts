import { gapFor, type OptionalRead, READS_ARE_OFF, type UnknownRead } from './optional-read.ts';

/** One kind of optional read. */
export interface CapabilityRule {
  /** The permission that it needs; null if none is known. */
  readonly permission: string | null;
  /** What a 404 with JSON means: the route is missing, or one object is not found. */
  readonly notFound: 'route' | 'object';
}

/** A capability that the server does not grant. */
export interface SwitchedOff extends Pick<UnknownRead, 'gap' | 'status'> {
  readonly capability: string;
  readonly permission: string | null;
}

export interface CapabilityOptions {
  /** `contract`: no optional read is ever sent. */
  readonly mode: 'contract' | 'extended';
  readonly now: () => Date;
  /** Called once when a capability is switched off. Must not throw. */
  readonly onOff: (off: SwitchedOff) => void;
}

/** Sends no optional read. */
export const NO_READS: CapabilityOptions = {
  mode: 'contract',
  now: () => new Date(),
  onOff: () => undefined,
};

interface Attempt<T> {
  readonly send: () => Promise<T>;
  /** The id of the service that the read is about; null for reads of the organization. */
  readonly subject: string | null;
}

export interface Capabilities<Name extends string> {
  /** Why the read cannot succeed, known without a request; null if it can. */
  blocked(name: Name, subject: string | null): UnknownRead | null;
  /** Sends a read that is not blocked. */
  attempt<T>(name: Name, attempt: Attempt<T>): Promise<OptionalRead<T>>;
}

/** How long a refusal for one service is remembered. */
const REMEMBERED_MS = 600_000;

/**
 * The capabilities of one API in this process. A missing route, or the refusal of a read of the
 * organization, switches one off until the process or its configuration starts again. Source: docs/apis.md#optional-reads.
 */
export function createCapabilities<Name extends string>(
  rules: Readonly<Record<Name, CapabilityRule>>,
  { mode, now, onOff }: CapabilityOptions,
): Capabilities<Name> {
  const off = new Map<Name, UnknownRead>();
  const refused = new Map<string, { readonly why: UnknownRead; readonly until: number }>();

  function switchOff(name: Name, why: UnknownRead): void {
    if (off.has(name)) return;
    off.set(name, { ...why, why: `${why.why}; off until Signalbox starts again` });
    const { gap, status } = why;
    onOff({ capability: name, gap, status, permission: rules[name].permission });
  }

  function record(name: Name, why: UnknownRead, { subject }: Attempt<unknown>): void {
    const { gap } = why;
    const isMissing = gap === 'not-found' && rules[name].notFound === 'route';
    const isForAll = gap === 'refused' && subject === null;
    if (gap === 'no-route' || isMissing || isForAll) switchOff(name, why);
    else if (gap === 'refused' || gap === 'not-found') {
      refused.set(`${name} ${subject}`, { why, until: now().getTime() + REMEMBERED_MS });
    }
  }

  return {
    blocked(name, subject) {
      if (mode === 'contract') return READS_ARE_OFF;
      const refusal = refused.get(`${name} ${subject}`);
      const isValid = refusal !== undefined && now().getTime() < refusal.until;
      return off.get(name) ?? (isValid ? refusal.why : null);
    },
    async attempt(name, attempt) {
      try {
        const value = await attempt.send();
        refused.delete(`${name} ${attempt.subject}`);
        return { known: true, value, readAt: now() };
      } catch (error) {
        const why = gapFor(error);
        record(name, why, attempt);
        return why;
      }
    },
  };
}
