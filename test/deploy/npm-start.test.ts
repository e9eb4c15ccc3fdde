import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

// npm sends SIGTERM to the shell that it started. A shell that waits for a child process would exit
// alone: the bot would continue without a parent and keep the database locked.
test.for(['start', 'sandbox'] as const)(
  'SIGTERM to npm reaches what `npm %s` runs',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-npm-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    // Stand-ins for the programs: one prints its process id, the other builds nothing.
    writeFileSync(join(folder, 'node'), '#!/bin/sh\necho "$$ $*"\n', { mode: 0o700 });
    writeFileSync(join(folder, 'npm'), '#!/bin/sh\n', { mode: 0o700 });

    const env = { PATH: `${folder}:${process.env.PATH}` };
    const shell = spawn('sh', ['-c', packageJson.scripts[name]], { env });
    const [said] = await Promise.all([text(shell.stdout), once(shell, 'exit')]);
    expect(said).toMatch(new RegExp(`^${shell.pid} (?:src|sandbox)/.*main\\.ts\n$`));
  },
);
