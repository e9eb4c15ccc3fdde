// POST /alerts/<secret>: where the alert service delivers its webhook. Off without ALERTS_WEBHOOK_SECRET.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { Secret } from '../base/errors.ts';
import { boundedBody } from '../base/http-answer.ts';
import type { AlertDelivery, Measures } from '../base/log.ts';
import { type AlertReport, readAlertReport } from '../servers/alert-webhook.ts';

/** What takes the reports of the current configuration. */
export interface AlertIntake {
  /** The last part of the path; null: the door is closed. */
  readonly secret: Secret | null;
  readonly receive: (report: AlertReport) => Promise<'accepted' | 'ignored'>;
}

interface Door {
  readonly intake: () => AlertIntake;
  readonly now: () => Date;
  readonly log: Logger;
  readonly measures: Pick<Measures, 'alertDelivered'>;
}

const PATH = '/alerts/';
const BODY_MAX = 64 * 1024;
/** More than a service with many alerts sends in a minute. A sender retries what is refused. */
const MOST = 300;
const WITHIN_MS = 60_000;

const STATUS = {
  accepted: 202,
  ignored: 202,
  unreadable: 400,
  large: 413,
  limited: 429,
  failed: 503,
};

/** Answers a request below /alerts/; false: it is none, and has no answer yet. Each reply is one short sentence. */
export function createAlertDoor({ intake, now, log, measures }: Door) {
  const window = { from: Number.NEGATIVE_INFINITY, count: 0 };
  const isLimited = (): boolean => {
    const at = now().getTime();
    if (at - window.from >= WITHIN_MS || at < window.from)
      Object.assign(window, { from: at, count: 0 });
    window.count += 1;
    return window.count > MOST;
  };
  const endingOf = async (request: IncomingMessage): Promise<readonly [AlertDelivery, string]> => {
    if (isLimited()) return ['limited', 'Too many reports. Try again in a minute.'];
    const body = await boundedBody(request, BODY_MAX);
    if (body === null) return ['large', `The body is larger than ${BODY_MAX} bytes.`];
    const reading = readAlertReport(body.toString('utf8'), now());
    if (!reading.ok) return ['unreadable', `Not read: ${reading.why}.`];
    const ending = await intake().receive(reading.report);
    return [ending, `The report is ${ending}.`];
  };
  const answer: RequestListener = async (request, response) => {
    const [ending, sentence] = await endingOf(request).catch((err: unknown) => {
      log.warn({ err }, 'a report of the alert service was not stored; its sender tries again');
      return ['failed', 'The report was not stored. Try again.'] as const;
    });
    measures.alertDelivered(ending);
    if (ending === 'unreadable')
      log.warn({ why: sentence }, 'a report of the alert service was not read');
    const close = request.complete ? {} : { connection: 'close' };
    response.writeHead(STATUS[ending], { 'content-type': 'text/plain; charset=utf-8', ...close });
    response.end(`${sentence}\n`);
  };
  return {
    /** Whether the request is a delivery with the right secret, which `answer` then takes. */
    opens: ({ method, url = '' }: IncomingMessage): boolean => {
      const { secret } = intake();
      const isDelivery = method === 'POST' && url.startsWith(PATH);
      return isDelivery && secret !== null && isSame(url.slice(PATH.length), secret.reveal());
    },
    answer,
  };
}

export type AlertDoor = ReturnType<typeof createAlertDoor>;

/** In a time that says nothing about either text. */
function isSame(given: string, secret: string): boolean {
  const [one, other] = [given, secret].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
