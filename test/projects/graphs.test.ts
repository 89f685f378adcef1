import { suite } from '../support/suite.ts';
import { GRAPHS } from './graph-scenarios.ts';
import { addScenarioTests } from './scenario-tests.ts';

const test = suite('projects with graphs of their own');
addScenarioTests(test, GRAPHS, 'graphs', 'usual');
test.run();
