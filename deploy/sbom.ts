import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/**
 * The packages that run, as CycloneDX JSON. npm's `--omit dev` also leaves out packages that a tool
 * needs as well (npm/cli#7909), two thirds of ours. So this removes the tools and lists the rest.
 */
export function billOfMaterials(): string {
  const scratch = mkdtempSync(join(tmpdir(), 'signalbox-sbom-'));
  const folder = join(scratch, 'signalbox');
  try {
    mkdirSync(folder);
    for (const [file, json] of Object.entries(withoutTools())) {
      writeFileSync(join(folder, file), JSON.stringify(json));
    }
    const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'];
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    return execFileSync('npm', [...args, '--sbom-type=application', '--loglevel=error'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: [...stdio],
    });
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function withoutTools() {
  const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const packages = Object.fromEntries(
    Object.entries<{ dev?: true }>(lock.packages).filter(([, { dev }]) => !dev),
  );
  packages[''] = { ...packages[''], devDependencies: undefined } as object;
  return {
    'package.json': { ...own, devDependencies: undefined },
    'package-lock.json': { ...lock, packages },
  };
}

if (import.meta.main) process.stdout.write(billOfMaterials());
