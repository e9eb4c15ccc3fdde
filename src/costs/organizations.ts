/** The costs of several organizations as one reading, and those of some of them. */
import type { Span } from '../base/calendar.ts';
import { TimeoutError, withTimeout } from '../base/errors.ts';
import { dayOf } from '../base/time.ts';
import type { CostSelector } from '../domain/policy.ts';
import { joinedDays } from '../maths/days.ts';
import type { CostReading, OrganizationCosts } from '../maths/report.ts';
import type { CloudOrganization } from '../servers/cloud.ts';
import {
  type CostReadOptions,
  createCostReader,
  distinctNames,
  isBehind,
  type ReaderParts,
  withOpen,
} from './reader.ts';

interface ReadOptions extends CostReadOptions {
  /** Only the organization with this id, so that no other one is waited for. */
  readonly organizationId?: string | undefined;
}

/** A question waits so long for one of several, and then uses what is stored of it. */
const PATIENCE_MS = 15_000;

/** Reads the reports of all organizations at the same time, each with its own key and request budget. */
export function createOrganizationsReader(
  organizations: readonly CloudOrganization[],
  parts: Omit<ReaderParts, 'cloud' | 'organizationId' | 'organization'>,
  patienceMs = PATIENCE_MS,
): (span: Span, how: ReadOptions) => Promise<CostReading> {
  const isOnly = organizations.length === 1;
  const readers = organizations.map(({ id, name, client: cloud }) => {
    const own = { cloud, organizationId: id, organization: isOnly ? null : name };
    return { id, name, read: createCostReader({ ...parts, ...own }) };
  });
  return async (span, { organizationId, ...how }) => {
    const asked = readers.filter(({ id }) => organizationId === undefined || id === organizationId);
    const isShort = asked.length > 1 && how.priority === 'people';
    const reads = asked.map(async ({ name, read: readOne }) => {
      const read = await (isShort
        ? inTime(patienceMs, readOne(span, how), () => readOne(span, { ...how, storedOnly: true }))
        : readOne(span, how));
      return { name: name ?? '', read };
    });
    const all = await Promise.all(reads);
    const newest = all.flatMap(({ read: { fetchedAt } }) => (fetchedAt ? dayOf(fetchedAt) : []));
    const today = newest.toSorted().at(-1) ?? '';
    const isMissing = ({ gaps }: CostReading) => gaps.some((gap) => isBehind(gap, span, today));
    return joined(all.map((one) => ({ ...one, isMissing: isMissing(one.read) })));
  };
}

/** The other result where the first one is late; its work goes on. */
async function inTime<T>(limitMs: number, first: Promise<T>, other: () => Promise<T>): Promise<T> {
  return withTimeout(limitMs, first).catch((error: unknown) => {
    if (error instanceof TimeoutError) return other();
    throw error;
  });
}

/** The same costs of these organizations only; without names, of all of them. */
export function ofOrganizations(read: CostReading, names: readonly string[]): CostReading {
  if (names.length === 0 || !read.organizations) return read;
  return joined(read.organizations.filter(({ name }) => names.includes(name)));
}

/** The costs of the organizations that a selection names. */
export function selectedCosts(read: CostReading, on: CostSelector | null): CostReading {
  return ofOrganizations(read, on?.organizations?.map(({ name }) => name) ?? []);
}

/** Without the organizations of which an older copy is used. */
export function readNow(read: CostReading): CostReading {
  if (!read.organizations) return read;
  const isMissing = ({ gaps }: CostReading) => gaps.length > 0;
  return joined(read.organizations.map((one) => ({ ...one, isMissing: isMissing(one.read) })));
}

/** The organizations that no sum includes; null for none. */
export function leftOut({ organizations = [] }: CostReading): string | null {
  const missing = organizations.filter(({ isMissing }) => isMissing);
  return missing.map(({ name }) => name).join(', ') || null;
}

/** ` without prod-eu`, after a sum. */
export function withoutText(read: CostReading): string {
  const names = leftOut(read);
  return names === null ? '' : ` without ${names}`;
}

/**
 * One reading of several. An organization that could not be read is left out as a whole, so that sums
 * of different days compare the same organizations; its gaps say why.
 */
function joined(parts: readonly OrganizationCosts[]): CostReading {
  const [only, ...others] = parts;
  if (only && others.length === 0) return only.read;
  const shown = parts.filter(({ isMissing }) => !isMissing).map(({ read }) => read);
  const open = shown.filter(({ isFinal }) => !isFinal);
  const times = (open.length > 0 ? open : shown).flatMap(({ fetchedAt }) => fetchedAt ?? []);
  return {
    ...only?.read,
    rows: distinctNames(
      withOpen(
        shown.flatMap(({ rows }) => rows),
        joinedDays(shown.map(({ rows }) => rows)),
      ),
    ),
    fetchedAt: times.toSorted((a, b) => a.getTime() - b.getTime())[0] ?? null,
    isFinal: parts.every(({ read }) => read.isFinal),
    problems: shown.flatMap(({ problems }) => problems),
    gaps: parts.flatMap(({ name, read, isMissing }) =>
      read.gaps.map((gap) => ({ ...gap, organization: name, ...(isMissing && { from: null }) })),
    ),
    organizations: parts,
  };
}
