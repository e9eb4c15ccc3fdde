import { expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { SCHEMA_VERSION } from '../../src/storage/old/migrate.ts';
import { requestAndApprove, requestChange, setTime } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { BEN } from '../harness/users.ts';
import { ENGINES, freshUrl } from '../storage/engines.ts';
import { migrateAsNewer } from '../storage/newer-schema.ts';

test.for(ENGINES)(
  'an upgrade and the way back keep an open change, and the older release executes it on %s',
  async (engine) => {
    const url = await freshUrl(engine);
    const lines: string[] = [];
    const log = createLog({ level: 'warn' }, { write: (line) => void lines.push(line) });
    const sandbox = await startTestSandbox({ databaseUrl: url, log });
    const card = await requestChange(sandbox);
    // A newer release migrates between the stop and the start of the older one.
    await sandbox.down();
    await migrateAsNewer(url, SCHEMA_VERSION);
    await sandbox.restart();
    await sandbox.press(BEN, card, 'change.approve');
    await sandbox.card('staging is stopping');
    setTime(sandbox, '12:05');
    await requestAndApprove(sandbox, '/service start staging again');
    await sandbox.card('staging is starting');
    expect(sandbox.cloud.count('set state')).toBe(2);
    expect(lines.join('')).toContain('the database has a newer schema');
  },
);
