import { suite } from '../support/suite.ts';
import { AGENTS } from './agent-scenarios.ts';
import { addScenarioTests } from './scenario-tests.ts';

const test = suite('projects with agents');
addScenarioTests(test, AGENTS, 'agents', 'usual');
test.run();
