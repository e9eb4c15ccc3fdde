import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { faultsOf, figures, startTypedWorld, type TypedCase } from '../harness/typed-lines.ts';

const FILE = new URL('typed-lines.yaml', import.meta.url);
const { cases } = parse(readFileSync(FILE, 'utf8')) as { readonly cases: readonly TypedCase[] };

/** The lines that are not right yet. This list may only become shorter. */
const KNOWN: readonly string[] = `
  O002 O003 O004 O006 O008 O009 O010 O011 O012 O013 O014 O017 O018 O019 O020 O022
  O023 O024 O025 O026 O029 O030 O032 O033 O034 O035 O036 O037 O038 O039 O040 O041
  O042 O043 O044 O045 O046 O047 O048 O049 O050 O054 O055 O057 O058 O059 O060 O062
  O063 O064 O065 O066 O067 O069 O070 O071 O072 O074 O075 O076 O077 O078 O079 O080
  O081 O082 O083 O084 O085 O086 O087 O088 O089 O090 O091 O092 O093 O094 O097 O098
  O102 O104 O105 O107 O109 O110 O111 O112 O113 O114 O116 O117 O118 O119 O120 O121
  O122 O123 O125 O127 O128 O129 O130 O133 O134 O135 O136 O138 O139 O140 O141 O142
  O143 O144 O145 O146 O149 O150 O152 O153 O155 O156 O157 O158 O159 O160 O161 O162
  O163 O164 O165 O166 O167 O168 O169 O172 O173 O174 O176 O178 O179 O180 O181 O182
  O183 O184 O185 O186 O187 O188 O189 O190 O191 O192 O193 O194 O195 O196 O198 O200
  O201 O202 O203 O206 O207 O208 O209 O210 O212 O213 O214 O215 O216 O219 O220 O221
  O222 O223 O225 O226 O228 O229 O230 O231 O232 O233 O234 O235 O236 O237 O238 O239
  O241 O242 O243 O244 O245 O246 O247 O248 O249 O250 O251 O252 O253 O254 O255 O256
  O258 O259 O260 O261 O262 O265 O268 O269 O271 O272 O273 O274 O275 O276 O277 O280
  O281 O282 O283 O284 O285 O288 O289 O290 O291 O292 O293
`
  .trim()
  .split(/\s+/);

const wrong = new Set<string>();

test.for(cases)('$id $line', async (typed) => {
  const sandbox = await startTypedWorld();
  const faults = await faultsOf(sandbox, typed);
  if (faults.length > 0) wrong.add(typed.id);
  if (KNOWN.includes(typed.id)) expect(faults, 'is right now: shorten the list').not.toEqual([]);
  else expect(faults).toEqual([]);
});

afterAll(() => {
  process.stdout.write(`${figures(cases, ({ id }) => !wrong.has(id))}\n`);
});
