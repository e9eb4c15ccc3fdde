// What every check of the doctor shares: its context, its lines, and the report of all lines.
import { withoutValues } from '../base/log.ts';
import type { Config } from './config.ts';

/** What all checks share. No field needs a network call. */
export interface CheckContext {
  readonly config: Config;
  readonly version: string;
  readonly now: () => Date;
  /** The time limit of each dependency, in milliseconds. */
  readonly withinMs: number;
}

/** `skipped`: the check was not possible; `says` has the reason. */
export type Status = 'ok' | 'warning' | 'failed' | 'skipped';

/** The result of one check; `says` continues the name as a sentence. */
export interface CheckLine {
  readonly status: Status;
  readonly name: string;
  readonly says: string;
  /** The exact next step; null without one. */
  readonly fix: string | null;
}

export interface CheckSection {
  readonly title: string;
  readonly lines: readonly CheckLine[];
}

export function ok(name: string, says: string): CheckLine {
  return { status: 'ok', name, says, fix: null };
}

export function warning(name: string, says: string, fix: string): CheckLine {
  return { status: 'warning', name, says, fix };
}

export function failed(name: string, says: string, fix: string): CheckLine {
  return { status: 'failed', name, says, fix };
}

export function skipped(name: string, says: string, fix: string | null = null): CheckLine {
  return { status: 'skipped', name, says, fix };
}

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count === 0 ? 'no' : count} ${count === 1 ? one : many}`;
}

export interface DoctorReport {
  readonly version: string;
  readonly sections: readonly CheckSection[];
}

const MARKS: Readonly<Record<Status, string>> = {
  ok: '✓',
  warning: '!',
  failed: '✗',
  skipped: '–',
};
const WIDEST = 24;
const LONGEST = 400;

/** The sections without secrets and control characters, each text at most 400 characters. */
export function cleaned(sections: readonly CheckSection[], secrets: readonly string[]) {
  const clean = (text: string) => {
    const plain = withoutValues(secrets, text).replace(/\p{C}/gu, '?');
    return plain.length > LONGEST ? `${plain.slice(0, LONGEST - 1)}…` : plain;
  };
  return sections.map(({ title, lines }) => ({
    title,
    lines: lines.map(
      ({ status, name, says, fix }): CheckLine => ({
        ...{ status, name: clean(name), says: clean(says) },
        fix: fix === null ? null : clean(fix),
      }),
    ),
  }));
}

export function passed({ sections }: DoctorReport): boolean {
  return count(sections, 'failed') === 0;
}

/** The report as text. */
export function reportText(report: DoctorReport): string {
  const { sections } = report;
  const longest = sections.flatMap(({ lines }) => lines).map(({ name }) => name.length);
  const body = sections.flatMap(({ title, lines }) => [
    title,
    linesText(lines, Math.max(...longest)),
  ]);
  return [`Signalbox ${report.version}`, '', ...body, ending(report), ''].join('\n');
}

/** One line per check, with the next step below. */
export function linesText(lines: readonly CheckLine[], longest = 0): string {
  const width = Math.min(WIDEST, longest);
  const texts = lines.flatMap(({ status, name, says, fix }) => {
    const advice = fix === null ? [] : [`    ${' '.repeat(width)}  → ${fix}\n`];
    return [`  ${MARKS[status]} ${name.padEnd(width)}  ${says}\n`, ...advice];
  });
  return texts.join('');
}

function ending({ sections }: DoctorReport): string {
  const failures = count(sections, 'failed');
  const warnings = count(sections, 'warning');
  const suffix = warnings === 0 ? '' : `, ${countText(warnings, 'warning')}`;
  if (failures === 0) return `All required checks passed${suffix}.`;
  return `${countText(failures, 'problem')}${suffix}. Follow the steps after the arrows, then run the doctor again.`;
}

/** The report as JSON with the fields of docs/operating.md#check-the-installation. */
export function toJson(report: DoctorReport): string {
  const { version, sections } = report;
  const checks = sections.flatMap(({ title, lines }) =>
    lines.map(({ status, name, says, fix }) => ({ section: title, name, status, says, fix })),
  );
  const counts = { failed: count(sections, 'failed'), warnings: count(sections, 'warning') };
  return `${JSON.stringify({ ok: passed(report), version, ...counts, checks }, null, 2)}\n`;
}

function count(sections: readonly CheckSection[], status: Status): number {
  return sections.flatMap(({ lines }) => lines).filter((line) => line.status === status).length;
}
