import { parseArgs } from 'node:util';

export const USAGE =
  'npm run bench -- [--rate 300] [--seconds 20] [--rounds 3] [--json] [--profile <folder>]';

export interface Options {
  readonly rate: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly json: boolean;
  readonly profile: string | null;
}

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rate: { type: 'string', default: '300' },
      seconds: { type: 'string', default: '20' },
      rounds: { type: 'string', default: '3' },
      json: { type: 'boolean', default: false },
      profile: { type: 'string' },
    },
  });
  return {
    rate: wholeNumber('rate', values.rate, 5_000),
    // The commands are signed ahead, and a signature is good for five minutes.
    seconds: wholeNumber('seconds', values.seconds, 120),
    rounds: wholeNumber('rounds', values.rounds, 20),
    json: values.json,
    profile: values.profile ?? null,
  };
}

function wholeNumber(name: string, text: string, most: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= most) return number;
  throw new Error(`--${name} must be a whole number from 1 to ${most} (you said ${text})`);
}
