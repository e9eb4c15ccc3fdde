import type { Config, Problem } from '../../config/load-config.ts';
import { counted, failed, type Line, ok, warning } from '../line.ts';

export function problemLines(problems: readonly Problem[]): readonly Line[] {
  return problems.map(({ where, problem, hint }) =>
    failed(where, problem, hint ?? `correct ${where}`),
  );
}

export function configurationLines(config: Config): readonly Line[] {
  const { policy, services, digests, budgets, key } = config;
  const parts = [
    counted(services.length, 'service'),
    counted(policy.roles.size, 'role'),
    counted(policy.rules.length, 'rule'),
    counted(digests.length, 'digest'),
    counted(budgets.length, 'budget'),
  ];
  return [
    ok('environment', 'every variable is as it should be'),
    ok('signalbox.yaml', parts.join(', ')),
    ...(key === null ? [unkeyed()] : []),
  ];
}

function unkeyed(): Line {
  const says = 'is not set: whoever can write to the database could make the audit trail anew';
  return warning('SIGNALBOX_KEY', says, 'set 32 bytes: openssl rand -base64 32');
}
