"""Monthly river levels, and how rain shows in them. Reads river-levels.csv."""

import numpy as np
import pandas as pd

levels = pd.read_csv("river-levels.csv", parse_dates=["date"])

monthly = (
    levels.groupby([levels.date.dt.to_period("M"), "station"])["level_cm"]
    .mean()
    .unstack()
    .round(1)
)
print("Mean level by month, cm")
print(monthly.to_string())

levels["rain_week"] = levels.groupby("station")["rain_mm"].transform(lambda r: r.rolling(7, min_periods=1).sum())
print("\nHow the rain of seven days and the level go together (Pearson's r)")
for name, station in levels.groupby("station"):
    print(f"  {name:<13}{np.corrcoef(station.rain_week, station.level_cm)[0, 1]:6.3f}")

high = levels.loc[levels.groupby("station")["level_cm"].idxmax(), ["station", "date", "level_cm"]]
print("\nHighest day of each station")
print(high.to_string(index=False))
