import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { commands } from '../../src/commands/registry.ts';
import { CLOUD_ROLES } from '../../src/servers/accepted-values.ts';
import { startDoctorSandbox } from '../ops/doctor-sandbox.ts';
import { line } from '../ops/lines.ts';

const neededFor = Map.groupBy(commands, ({ permission }) => permission);

test('each permission is listed with the commands that need it and a role', async () => {
  const sandbox = await startDoctorSandbox();
  const lines = await sandbox.diagnose();
  for (const [permission = '', needing] of neededFor) {
    if (permission === '' || permission === 'organization:view') continue;
    const names = needing.map(({ name }) => name).join(', ');
    expect(line(lines, permission)).toEqual({
      name: permission,
      status: 'skipped',
      says: `needed by ${names}; not checked: no read showed it`,
      fix: expect.stringMatching(/^(Admin|Basic service reader|Service API admin) is a role/),
    });
  }
  const usage = line(lines, 'organization:view');
  expect(usage?.status).toBe('ok');
  expect(usage?.says).toMatch(/^granted: the usage report was read; needed by cost, /);
});

test('a permission that no command of the policy needs is not listed', async () => {
  const sandbox = await startDoctorSandbox({
    yaml: (file) => ({
      ...file,
      policy: [{ allow: ['service list', 'service stop'], to: 'operator' }],
    }),
  });
  const listed = (await sandbox.diagnose()).flatMap(({ name }) =>
    /^(service|organization):/.test(name) ? [name] : [],
  );
  expect(listed).toEqual(['service:manage']);
});

test('the reads that were refused or granted show what is missing', async () => {
  const sandbox = await startDoctorSandbox({
    yaml: (file) => ({ ...file, cloud: { reads: 'extended' } }),
  });
  sandbox.cloud.setKey(CLOUD_KEY.id, { denied: ['usage cost', 'list pipes'] });
  const lines = await sandbox.diagnose();
  expect(line(lines, 'organization:view')).toMatchObject({
    status: 'warning',
    says: expect.stringContaining('missing: the usage report was refused (403); needed by cost'),
    fix: 'give the key the permission organization:view, for example with the role Member',
  });
  expect(line(lines, 'service:manage-pipes')).toMatchObject({
    status: 'warning',
    says: expect.stringContaining('missing: pipes were refused (403)'),
  });
  expect(line(lines, 'service:view-backups')).toMatchObject({
    status: 'ok',
    says: expect.stringMatching(/^granted: backups were read; needed by backup list, /),
  });
});

test('every command that calls the cloud API names its permission', () => {
  const without = commands.filter(({ permission }) => !permission).map(({ name }) => name);
  // The list of schedules and their pauses are records of Signalbox; each run needs the permission of the schedule.
  const own = /^(alert|change|service schedule) /;
  const others = without.filter((name) => !own.test(name));
  expect(others).toEqual(['service list', 'service show']);
});

test('docs/apis.md has a row for each permission with its role', () => {
  const page = readFileSync(new URL('../../docs/apis.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `((?:service|organization):[a-z-]+)` \| .* \| (.+) \|$/gm)];
  expect(Object.fromEntries(rows.map(([, name, role]) => [name, role]))).toEqual(CLOUD_ROLES);
});
