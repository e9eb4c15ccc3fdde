import { expect, test } from 'vitest';
import { casesIn } from '../harness/cases.ts';
import { edited, said } from './fixtures.ts';

/** The input is the text to replace in the example, and its replacement. */
const REFUSED = casesIn(`
  the plan is unknown: plan: paid → plan: gold
    organization.plan: cannot be “gold” (one of: paid, free)
  the tier is left blank: tier: scale → tier:
    organization.tier: is empty (one of: basic, scale, enterprise)
  an id is none: id: 2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e → id: ../services/1
    services[0].id: must be an id (a UUID, from the console)
  a service has a name with a quote: name: staging → name: my "staging
    services[1].name: must be a name of at most 100 characters without quotes
  two services share a name: name: staging → name: Analytics-Prod
    services[1].name: repeats “Analytics-Prod” (already used at services[0].name)
  an alias is the name of another: aliases: [prod] → aliases: [staging]
    services[1].name: repeats “staging” (already used at services[0].aliases[0])
  two services share an id: id: 1525c708-e4bc-426d-a9e7-d11b6c27caf5 → id: 2F7C9D34-5F0E-4F0A-8F58-0F6F0B1C2D3E
    services[1].id: repeats “2F7C9D34-5F0E-4F0A-8F58-0F6F0B1C2D3E” (already used at services[0].id)
  cards would have no channel:   approvals: '#db-approvals' →   # approvals: '#db-approvals'
    channels.approvals: is missing, and policy[1], policy[2] names no channel for its approvals (for example '#db-approvals')
  the sign of a channel begins a comment: audit: '#db-audit' → audit: #db-audit
    channels.audit: is empty (a name with # needs quotes: '#db')
  a freeze names an unknown tag: on: { tags: [prod] }\\n    reason: year → on: { tags: [prd] }\\n    reason: year
    freezes[0].on.tags[0]: names no tag of a service: “prd” (did you mean “prod”?)
  a budget is of an unknown team: on: { tags: [prod] }\\n    notify → on: { teams: [serach] }\\n    notify
    budgets[0].on.teams[0]: names no team: “serach” (did you mean “search”?)
  a rule is of a team: on: { tags: [prod] }      # services → on: { teams: [search] }      # services
    policy[1].on.teams: is not a known key (did you mean “tags”?)
  a digest has an impossible hour: at: '09:00' → at: '24:00'
    digests[0].at: must be a time of day, for example 09:30
  a digest is in a misspelt city: Europe/Berlin   # → Europe/Berlim   #
    digests[0].timezone: must name a place or UTC, not “Europe/Berlim” (did you mean “Europe/Berlin”?)
  a digest is in the zone of an abbreviation: Europe/Berlin   # → PST   #
    digests[0].timezone: must name a place or UTC, not “PST” (for example Europe/Berlin)
  a digest has a fixed offset for a zone: Europe/Berlin   # → '+01:00'   #
    digests[0].timezone: must name a place or UTC, not “+01:00” (for example Europe/Berlin, so that summer time applies)
  a digest is on unknown days: days: weekdays → days: [monday]
    digests[0].days: must be daily, weekdays, or days of the week: mon, tue, wed, thu, fri, sat, sun
  a weekly digest is on two days: days: [mon] → days: [mon, fri]
    digests[1].days: must be a single day, for example mon
  a digest is of a month: period: week → period: month
    digests[1].period: cannot be “month” (one of: day, week)
  a channel has two digests a day: period: week              # day → period: day               # day
    digests[1]: repeats “#db-costs by day” (already used at digests[0])
  a budget is nothing: monthlyCredits: 12000 → monthlyCredits: 0
    budgets[0].monthlyCredits: must be more than 0
  a budget is a text: monthlyCredits: 12000 → monthlyCredits: 12.000,0
    budgets[0].monthlyCredits: must be a number, not text
  a budget has no amount: monthlyCredits: 12000 → # nothing
    budgets[0].monthlyCredits: is missing
  a budget is astronomic: monthlyCredits: 12000 → monthlyCredits: 1e12
    budgets[0].monthlyCredits: must be at most 1000000000
  a budget has the keys of years: monthlyCredits: 12000 → monthlyCredits: 12000\\n    period: year
    budgets[0].period: is not a known key (known: name, monthlyCredits, on, notify, thresholds)
  a threshold is no percentage: [50, 80, 100] → [0.5]
    budgets[0].thresholds[0]: must be a whole number
  the world is neither in nor out: openToTheWorld: refused → openToTheWorld: false
    access.openToTheWorld: cannot be “false” (one of: refused, allowed)
  cards go to an unknown place: notify: channel → notify: dms
    notify: cannot be “dms” (one of: channel, dm, both)
  optional reads are neither on nor off: reads: contract → reads: live
    cloud.reads: cannot be “live” (one of: contract, extended)
  the console is not encrypted: reads: contract → reads: contract\\n  console: http://console.example.com/{service}
    cloud.console: must be an https address, with {service} at most in its path (for example https://console.example.com/services/{service})
  the id of a service chooses the console: reads: contract → reads: contract\\n  console: https://{service}.example.com/
    cloud.console: must be an https address, with {service} at most in its path (for example https://console.example.com/services/{service})
  the console has an unknown placeholder: reads: contract → reads: contract\\n  console: https://console.example.com/{name}
    cloud.console: must be an https address, with {service} at most in its path (for example https://console.example.com/services/{service})
  the console has a password: reads: contract → reads: contract\\n  console: https://ana:secret@console.example.com/{service}
    cloud.console: must be an https address, with {service} at most in its path (for example https://console.example.com/services/{service})
  a tag of the server has a capital letter: reads: contract → tags: [Env=staging]\\n  reads: extended
    cloud.tags[0]: must be a tag of the server in lower case (its key, or key=value)
  a tag of the server has two values: reads: contract → tags: [env=a=b]\\n  reads: extended
    cloud.tags[0]: must be a tag of the server in lower case (its key, or key=value)
  a digest selects a tag of the server: on: { tags: [prod] }      # only → on: { tags: [env=a] }      # only
    digests[1].on.tags[0]: names no tag of a service: “env=a” (known: prod, staging)
  a whole part is misspelt: freezes: → freeze:
    freeze: is not a known key (did you mean “freezes”?)
  two pipes share a name: 1e2f3a4b5c6d } → 1e2f3a4b5c6d }\\n      - { name: orders, id: 9a3b6c1d-2e4f-4a5b-8c7d-1e2f3a4b5c6e }
    services[0].pipes[1].name: repeats “orders” (already used at services[0].pipes[0].name)
`);

test.for(REFUSED)('the file is refused when %s', ([, edit, problem]) => {
  const [from = '', to = ''] = edit.replaceAll('\\n', '\n').split(' → ');
  expect(said({}, edited([from, to]))).toContain(problem);
});

test('a rule may name a declared tag of the server and allow discovered services', () => {
  const rule =
    'on: { tags: [env=staging] }\n    discovered: allowed\n    approvals: { from: approver, count: 1';
  const yaml = edited(
    ['reads: contract ', 'tags: [env=staging]\n  reads: extended '],
    ['approvals: { from: approver, count: 1', rule],
  );
  expect(said({}, yaml)).toEqual([]);
});
