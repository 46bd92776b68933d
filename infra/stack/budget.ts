import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { letPublish } from './alarm-topic.ts';

/**
 * Sends a message to the topic when the account's costs of a month exceed this number of dollars,
 * or are about to. AWS looks at the costs up to three times a day, so it comes hours late.
 */
export function createBudget(scope: Construct, dollars: number, topic: Topic): void {
  letPublish('budgets.amazonaws.com', topic);
  const budget = new CfnBudget(scope, 'Budget', {
    budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount: dollars, unit: 'USD' } },
    notificationsWithSubscribers: ['ACTUAL', 'FORECASTED'].map((notificationType) => ({
      notification: { notificationType, comparisonOperator: 'GREATER_THAN', threshold: 100 },
      subscribers: [{ subscriptionType: 'SNS', address: topic.topicArn }],
    })),
  });
  budget.node.addDependency(topic);
}
