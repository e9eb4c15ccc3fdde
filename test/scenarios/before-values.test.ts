import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { NO_MESSAGE } from '../harness/requests.ts';
import { startTestSandbox, type TestSandboxOptions } from '../harness/test-sandbox.ts';
import { ANA, BEN, FINN } from '../harness/users.ts';

const STAGING = '1525c708-e4bc-426d-a9e7-d11b6c27caf5';
const BI = 'fc93a55d-de5f-4408-ae2a-6127004816c1';
const ML = '9bdca388-c2ba-4b43-b5ec-18a4156637fb';

function started(options: TestSandboxOptions = {}) {
  const yaml = (file: Record<string, never>) => ({ ...file, cloud: { reads: 'extended' } });
  return startTestSandbox({ yaml, ...options });
}
type Sandbox = Awaited<ReturnType<typeof started>>;

async function previewed(sandbox: Sandbox, line: string, title: string) {
  await sandbox.slack.command(ANA, 'ops', line);
  return textOf((await sandbox.privateMessage(ANA, title)) ?? NO_MESSAGE);
}

test('debug', async () => {
  const sandbox = await started();
  console.log(await previewed(sandbox, '/service stop staging', 'Stop staging?'));
  console.log(await previewed(sandbox, '/service stop lab-core', 'Stop lab-core?'));
  console.log(await previewed(sandbox, '/service stop archive', 'already'));
  console.log(await previewed(sandbox, '/service scale bi-readonly min=16 max=32', 'Scale bi-readonly?'));
  console.log(await previewed(sandbox, '/service scale ml-features min=32 max=32', 'Scale ml-features?'));
  console.log(await previewed(sandbox, '/service scale staging min=8 max=32', 'already'));
}, 30_000);
