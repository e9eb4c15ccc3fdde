import { quoted } from '../base/problem.ts';
import { parseOptions, unknownCommand } from './parse-options.ts';

export const POLICY_USAGE = `signalbox policy test <cases.yaml> [--config <file>]
    Decides the cases of a file by signalbox.yaml and compares each decision with the expected one.
    Reads no database and asks no Slack: user groups cannot be read, so cases give roles.
    --config  the configuration file; default SIGNALBOX_CONFIG, else ./signalbox.yaml

No variable is needed.
Exit code: 0 no difference, 1 a difference, 2 wrong options or files.
`;

export type PolicyRequest =
  | { readonly kind: 'help' }
  | { readonly kind: 'test'; readonly cases: string; readonly config: string | null };

type PolicyOptions =
  | { readonly ok: true; readonly request: PolicyRequest }
  | { readonly ok: false; readonly sentence: string };

export function readPolicyOptions(args: readonly string[]): PolicyOptions {
  const parsed = parseOptions(args, { config: { type: 'string' }, help: { type: 'boolean' } });
  if ('sentence' in parsed) return rejected(parsed.sentence);
  const { values, positionals } = parsed;
  const [what = '', cases, ...more] = positionals;
  if (values.help || what === 'help' || args.length === 0) return accepted({ kind: 'help' });
  if (what !== 'test') return rejected(unknownCommand(what, ['test']));
  if (cases === undefined) return rejected('test needs a file of cases, for example cases.yaml.');
  if (more.length > 0) return rejected(`Unexpected argument: ${quoted(more.join(' '))}.`);
  return accepted({ kind: 'test', cases, config: values.config ?? null });
}

function accepted(request: PolicyRequest): PolicyOptions {
  return { ok: true, request };
}

function rejected(sentence: string): PolicyOptions {
  return { ok: false, sentence };
}
