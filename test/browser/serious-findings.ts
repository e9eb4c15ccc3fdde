import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The dark theme differs in its colours only, so that the rules about colours are enough there. */
const RULES = { light: undefined, dark: ['color-contrast', 'link-in-text-block'] };

/** Resolves when the page is drawn in the new theme. */
const DRAWN = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))';

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe-core calls serious or critical on this screen, in both themes. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE);
    await page.evaluate(DRAWN);
    // Elements that pass are not needed. Preloaded files serve rules that are off or not serious.
    const options = { runOnly: RULES[colorScheme], resultTypes: ['violations'], preload: false };
    const run = `axe.run(document, ${JSON.stringify(options)}).then((all) => all.violations)`;
    const violations = await page.evaluate<readonly Violation[]>(run);
    const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
    for (const { id, nodes } of serious) {
      found.push(
        ...nodes.map((node) => `${colorScheme} ${id}: ${node.html} ${node.failureSummary}`),
      );
    }
  }
  return found;
}
