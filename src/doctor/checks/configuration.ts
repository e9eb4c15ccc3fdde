import type { Config, ConfigProblem } from '../../config/load-config.ts';
import { type CheckLine, countText, failed, ok, warning } from '../line.ts';

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
