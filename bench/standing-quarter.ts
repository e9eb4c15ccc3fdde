import { DAY_MS, HOUR_MS, MINUTE_MS } from '../src/base/time.ts';
import { type Chance, chanceFrom } from './costs-worlds.ts';

// A quarter of requests, written before standing approvals existed: what people and agents ask for, and what happens
// around it. People who use such systems complain about approving the same again and again (approval fatigue, pings to
// every approver), but none of them reports a share. So the share of repeats is an option, and a report names it.

export const QUARTER_FROM = new Date('2026-10-01T00:00:00Z');
const PER_DAY = 100;
const SERVICES = 20;
const HABITS = 24;

export const OPERATORS = ['U0ANA', 'U0FINN', 'U0IDA', 'U0JON', 'U0KIM', 'U0LEO'] as const;
export const APPROVERS = ['U0BEN', 'U0CLEO', 'U0GUS', 'U0MIA', 'U0NED'] as const;
export const AGENT = 'ci';

export interface QuarterRequest {
  readonly kind: 'request';
  readonly at: Date;
  readonly by: string;
  /** The program that asks for itself, in the place of `by`. */
  readonly agent: boolean;
  readonly command: 'service start' | 'service stop' | 'service scale' | 'alert edit';
  readonly service: string;
  /** Of a scale. */
  readonly size: { readonly max: number; readonly replicas: number | null } | null;
  /** The habit of which it is a repetition; null: it is like no other. */
  readonly habit: number | null;
}

/** What happens around the requests. */
export type QuarterNews =
  | { readonly kind: 'freeze'; readonly at: Date; readonly until: Date; readonly tag: string }
  | { readonly kind: 'left' | 'joined'; readonly at: Date; readonly who: string }
  | {
      readonly kind: 'tags';
      readonly at: Date;
      readonly service: string;
      readonly tags: readonly string[];
    }
  | { readonly kind: 'lookups fail'; readonly at: Date; readonly until: Date }
  | { readonly kind: 'revoke'; readonly at: Date; readonly service: string };

export interface Quarter {
  readonly services: readonly { readonly id: string; readonly tags: readonly string[] }[];
  /** In the order of their times. */
  readonly events: readonly (QuarterRequest | QuarterNews)[];
}

export interface QuarterOptions {
  readonly seed: number;
  readonly days: number;
  /** The share of requests that repeat an earlier one, from 0 to 1. */
  readonly repeats: number;
}

export function quarter({ seed, days, repeats }: QuarterOptions): Quarter {
  const chance = chanceFrom(seed);
  const services = Array.from({ length: SERVICES }, (_, index) => {
    return { id: `svc-${index + 1}`, tags: [index < 8 ? 'prod' : 'dev'] };
  });
  const habits = Array.from({ length: HABITS }, (_, habit) => habitOf(chance, services, habit));
  const requests = Array.from({ length: days * PER_DAY }, (_, index): QuarterRequest => {
    const day = Math.floor(index / PER_DAY);
    const at = new Date(QUARTER_FROM.getTime() + day * DAY_MS + momentOf(chance));
    return chance() < repeats
      ? { ...pick(chance, habits)(chance), at }
      : { ...onceOf(chance, services), at };
  });
  const events = [...requests, ...newsOf(chance, services, days)];
  return { services, events: events.toSorted((a, b) => a.at.getTime() - b.at.getTime()) };
}

type Services = Quarter['services'];

/** Most requests are in the working hours of some zone. */
function momentOf(chance: Chance): number {
  const hour = chance() < 0.8 ? 7 + chance() * 11 : chance() * 24;
  return Math.floor(hour * HOUR_MS);
}

const COMMANDS = ['service start', 'service stop', 'service scale'] as const;

/** One person, or a program, that asks for one thing of one service again and again, of varying size. */
function habitOf(chance: Chance, services: Services, habit: number) {
  const { id: service } = pick(chance, services);
  const command = pick(chance, COMMANDS);
  const agent = chance() < 0.2;
  const usual = pick(chance, OPERATORS);
  const most = 4 * (4 + Math.floor(chance() * 12));
  return (now: Chance): Omit<QuarterRequest, 'at'> => {
    // Now and then a colleague asks, or more than usual is needed.
    const by = now() < 0.85 ? usual : pick(now, OPERATORS);
    const max = now() < 0.95 ? most - 4 * Math.floor(now() * 3) : most * 2;
    const size = command === 'service scale' ? { max, replicas: null } : null;
    return { kind: 'request', by, agent, command, service, size, habit };
  };
}

function onceOf(chance: Chance, services: Services): Omit<QuarterRequest, 'at'> {
  const { id: service } = pick(chance, services);
  const by = pick(chance, OPERATORS);
  const command = chance() < 0.2 ? 'alert edit' : pick(chance, COMMANDS);
  const max = 4 * (2 + Math.floor(chance() * 80));
  const replicas = chance() < 0.3 ? 1 + Math.floor(chance() * 5) : null;
  const size = command === 'service scale' ? { max, replicas } : null;
  return { kind: 'request', by, agent: false, command, service, size, habit: null };
}

/** Each week a freeze, a tag that moves, a person who leaves and one who comes back, an outage, and a revocation. */
function newsOf(chance: Chance, services: Services, days: number): readonly QuarterNews[] {
  const weeks = Math.max(1, Math.floor(days / 7));
  return Array.from({ length: weeks }, (_, week) => week * 7 * DAY_MS).flatMap((from) => {
    const at = (after = 0) =>
      new Date(QUARTER_FROM.getTime() + from + after + Math.floor(chance() * 6 * DAY_MS));
    const frozen = at();
    const out = at();
    const { id: service, tags } = pick(chance, services);
    const moved = at();
    const who = pick<string>(chance, chance() < 0.5 ? OPERATORS : APPROVERS);
    const left = at();
    return [
      {
        kind: 'freeze',
        at: frozen,
        until: later(frozen, 4 * HOUR_MS),
        tag: pick(chance, ['prod', 'dev']),
      },
      { kind: 'lookups fail', at: out, until: later(out, 30 * MINUTE_MS) },
      { kind: 'tags', at: moved, service, tags: tags.includes('prod') ? ['dev'] : ['prod'] },
      { kind: 'tags', at: later(moved, DAY_MS), service, tags },
      { kind: 'left', at: left, who },
      { kind: 'joined', at: later(left, 2 * DAY_MS), who },
      { kind: 'revoke', at: at(), service: pick(chance, services).id },
    ] satisfies readonly QuarterNews[];
  });
}

function later(from: Date, ms: number): Date {
  return new Date(from.getTime() + ms);
}

function pick<Item>(chance: Chance, items: readonly Item[]): Item {
  // The index is below the length.
  return items[Math.floor(chance() * items.length)] as Item;
}
