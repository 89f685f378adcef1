import { AGENTS } from '../projects/agent-scenarios.ts';
import { addScenarioTests } from '../projects/scenario-tests.ts';
import { suite } from '../support/suite.ts';

const test = suite('projects with agents, on the other lines');
addScenarioTests(test, AGENTS, 'agents', 'long');
test.run();
