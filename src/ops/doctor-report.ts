import { TimeoutError, withinTime } from '../base/errors.ts';
import { withoutValues } from '../base/log.ts';
import type { ConfigProblem } from '../base/problem.ts';
import type { Command } from '../commands/index.ts';
import { tokenProblem } from '../slack/index.ts';
import type { Config } from './config.ts';
import type { ReadFile } from './environment.ts';

/** What all checks share. No field needs a network call. */
export interface CheckContext {
  readonly config: Config;
  readonly version: string;
  readonly now: () => Date;
  /** The time limit of each dependency, in milliseconds. */
  readonly withinMs: number;
  readonly commands: readonly Command[];
  readonly nouns: Readonly<Record<string, string>>;
  /** The manifest file in the working directory; null without one. */
  readonly manifest: { readonly file: string; readonly content: unknown } | null;
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

/** The line for a failed or late call of Slack. */
export function slackLine(name: string, error: unknown): CheckLine {
  if (error instanceof TimeoutError) {
    const fix = 'check the network, a proxy, and status.slack.com';
    return failed(name, `Slack ${error.message}`, fix);
  }
  const { says, fix, passing } = tokenProblem(error);
  return passing ? warning(name, says, fix) : failed(name, says, fix);
}

const NAME = 'collector';

/** Sends an empty request to the trace collector, if configured. Problems are warnings only. */
export async function collectorLines({
  config,
  withinMs,
}: CheckContext): Promise<readonly CheckLine[]> {
  const { tracing } = config;
  if (tracing === null) return [];
  const { url, headers } = tracing;
  const keys = [...headers].map(([name, value]) => [name, value.reveal()] as const);
  const answer = await withinTime(withinMs, async () => {
    const { status, body } = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...Object.fromEntries(keys), 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(),
      signal: AbortSignal.timeout(withinMs),
    });
    await body?.cancel();
    return status;
  });
  if (!answer.ok) return [warning(NAME, 'is not reachable', CHECK_ADDRESS)];
  return [statusLine(answer.value, url)];
}

const CHECK_ADDRESS = 'check OTEL_EXPORTER_OTLP_ENDPOINT, and whether this machine can reach it';

function statusLine(status: number, url: string): CheckLine {
  if (status === 401 || status === 403) {
    return warning(NAME, `rejects the key (${status})`, 'check OTEL_EXPORTER_OTLP_HEADERS');
  }
  if (status >= 300) {
    const fix = 'check OTEL_EXPORTER_OTLP_ENDPOINT: it needs OTLP over HTTP, usually on port 4318';
    return warning(NAME, `does not accept traces at this address (${status})`, fix);
  }
  return ok(NAME, `accepts traces${url.startsWith('https:') ? ' over TLS' : ' without TLS'}`);
}

export function problemLines(problems: readonly ConfigProblem[]): readonly CheckLine[] {
  return problems.map(({ where, problem, hint }) =>
    failed(where, problem, hint ?? `correct ${where}`),
  );
}

export function configurationLines(config: Config): readonly CheckLine[] {
  const { policy, services, digests, budgets, key } = config;
  const parts = [
    countText(services.length, 'service'),
    countText(policy.roles.size, 'role'),
    countText(policy.rules.length, 'rule'),
    countText(digests.length, 'digest'),
    countText(budgets.length, 'budget'),
  ];
  return [
    ok('environment', 'all variables are valid'),
    ok('signalbox.yaml', parts.join(', ')),
    ...(key === null ? [unkeyed()] : []),
  ];
}

function unkeyed(): CheckLine {
  const says = 'is not set: anyone with write access to the database can forge the audit trail';
  return warning('SIGNALBOX_KEY', says, 'set 32 bytes: openssl rand -base64 32');
}

/** Keys that depend on the delivery (Socket Mode or HTTP) and on the address. */
const DEPLOYMENT_KEYS = ['url', 'request_url', 'message_menu_options_url', 'socket_mode_enabled'];

/** Compares the manifest file with the manifest of this release and command prefix. */
export function manifestLine(written: CheckContext['manifest'], expected: unknown): CheckLine {
  if (written === null) return skipped('manifest', 'no manifest.json to compare');
  const { file, content } = written;
  if (comparable(content) === comparable(expected))
    return ok('manifest', `${file} matches this release`);
  const fix =
    'run signalbox manifest (with your --prefix, --url), paste it under App Manifest, reinstall';
  return warning('manifest', `${file} does not match this release and prefix`, fix);
}

function comparable(manifest: unknown): string {
  return JSON.stringify(manifest, (key, value) =>
    DEPLOYMENT_KEYS.includes(key) ? undefined : value,
  );
}

const MANIFESTS = ['manifest.local.json', 'manifest.json'];

/** The manifest file in the working directory; the local one wins. Null without a readable file. */
export function readManifest(readFile: ReadFile): CheckContext['manifest'] {
  for (const file of MANIFESTS) {
    const text = textOf(file, readFile);
    if (text !== null) return { file, content: contentOf(text) };
  }
  return null;
}

function textOf(file: string, readFile: ReadFile): string | null {
  try {
    return readFile(file);
  } catch (error) {
    // Signalbox can be installed without this file; then there is nothing to compare.
    if (error instanceof Error) return null;
    throw error;
  }
}

/** Invalid JSON becomes null, which matches no manifest. */
function contentOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
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
const COLOURS: Readonly<Record<Status, number>> = { ok: 32, warning: 33, failed: 31, skipped: 2 };
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

/** Whether to colour the output: on terminals, unless NO_COLOR is set (no-color.org). */
export function wantsColour(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
) {
  return isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** The report as text: one line per check, with the next step below. */
export function reportText(report: DoctorReport, { colour }: { readonly colour: boolean }): string {
  const { sections } = report;
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const longest = sections.flatMap(({ lines }) => lines).map(({ name }) => name.length);
  const width = Math.min(WIDEST, Math.max(...longest));
  const lineOf = ({ status, name, says, fix }: CheckLine) => {
    const mark = paint(COLOURS[status], MARKS[status]);
    const advice = fix === null ? [] : [`    ${' '.repeat(width)}  → ${fix}`];
    return [`  ${mark} ${name.padEnd(width)}  ${says}`, ...advice];
  };
  const body = sections.flatMap(({ title, lines }) => [
    paint(1, title),
    ...lines.flatMap(lineOf),
    '',
  ]);
  return [`Signalbox ${report.version}`, '', ...body, ending(report), ''].join('\n');
}

function ending({ sections }: DoctorReport): string {
  const failures = count(sections, 'failed');
  const warnings = count(sections, 'warning');
  const suffix = warnings === 0 ? '' : `, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`;
  if (failures === 0) return `All required checks passed${suffix}.`;
  const many = failures === 1 ? '1 problem' : `${failures} problems`;
  return `${many}${suffix}. Follow the steps after the arrows, then run the doctor again.`;
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
