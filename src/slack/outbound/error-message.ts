import { ApiError } from '../../errors.ts';
import { isDatabaseAway } from '../../workflow/limits/database-unavailable.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import { fact, lines, type Message, message, title } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { DATABASE_AWAY } from '../inbound/store-or-reply.ts';

/** What to do, by what the server answered; the rest is the server's own words. */
const ADVICE: Readonly<Record<number, string>> = {
  400: 'The server does not take what was asked for. Mend what it names.',
  401: 'The key is not accepted. Whoever looks after Signalbox can renew it.',
  403: 'The key may not do this. Whoever looks after Signalbox can give it the right.',
  404: 'Nothing of that name or id is there: it may have expired, or belong to another service.',
  424: 'The service must be running for this. Signalbox does not start it by itself.',
  429: 'Too many requests went out just now. Try again in a minute.',
};

/** A read that did not bring what was asked for: what the server said, and what to do. */
export function errorMessage(error: unknown): Message | null {
  if (!(error instanceof ApiError)) {
    return isDatabaseAway(error) ? sentenceMessage([DATABASE_AWAY]) : null;
  }
  const { status, serverText, requestId, kind, sentence } = error;
  if (kind === 'wrong-address') {
    return sentenceMessage(['That address does not answer like the API. Check the configuration.']);
  }
  const said = [status, serverText].filter((part) => part !== null).join(' ');
  const facts: Line[] = [
    ...(serverText === null ? inOwnWords(sentence, status) : [fact('The server said', said)]),
    ...(requestId ? [fact('Request', requestId)] : []),
    [ADVICE[status ?? 0] ?? 'Nothing was changed. Try again in a minute.'],
  ];
  return message(title('That did not work'), lines(...facts));
}

// Nothing readable came: what is known is how it ended, and the status if that tells anything.
function inOwnWords(sentence: string, status: number | null): Line[] {
  return [[sentence], ...(status !== null && status >= 400 ? [fact('Status', `${status}`)] : [])];
}
