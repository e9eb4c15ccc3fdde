import type { UnknownRead } from '../../http/optional/optional-read.ts';
import type { Answer, CommandOffer } from './answer.ts';
import { oneLineOf } from './texts.ts';

/** Why a value is unknown. It can contain text of the server, so it is one line of limited length. */
export function unknownText({ why }: UnknownRead): string {
  return `Unknown: ${oneLineOf(why, 300)}.`;
}

interface UnknownList {
  readonly title: string;
  readonly read: UnknownRead;
  /** What works without the list, as sentences. */
  readonly instead: readonly string[];
  readonly offers: readonly CommandOffer[];
}

/** The answer of a query whose list could not be read. */
export function unknownList({ title, read, instead, offers }: UnknownList): Answer {
  // A name of a service is text from outside as well.
  const lines = [unknownText(read), ...instead].map((line) => [oneLineOf(line, 400)]);
  return {
    title: `${title}: unknown`,
    parts: [
      { kind: 'lines', lines },
      { kind: 'offers', offers },
    ],
  };
}
