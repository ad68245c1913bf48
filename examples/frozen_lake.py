import gymnasium
import hilo

high = gymnasium.make("FrozenLake-v1", is_slippery=True)  # expensive: ice
low = gymnasium.make("FrozenLake-v1", is_slippery=False)  # cheap: it takes the ice for firm ground

# Does the cheap one pay, where a step of the expensive one costs a hundred of its own?
print(hilo.diagnose(high, low, episodes=1000, train_episodes=1000, cost_high=100, cost_low=1))

study = hilo.train(high, low, agent=["mcrl", "mfmcrl+", "bayes"], episodes=1000, seeds=20)
print(study)
study.plot("frozen-lake.png")

policy = study.policy()  # of the agent and seed with the highest value
print("first action:", policy(0))
